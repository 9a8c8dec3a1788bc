"""Classifies variables, entries of dicts and parts of arrays in the syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeGuard

from ..calls.misfits import Refusal
from ..frontend.uses import named
from ..syntax.patterns import string_key, subscripts_of
from ..syntax.walks import walk


def is_whole(node: ast.expr) -> bool:
    """Whether the node is a variable `a` or an entry of a dict `d['k']`."""
    return isinstance(node, ast.Name) or string_key(node) is not None


def is_part(node: ast.expr) -> TypeGuard[ast.Subscript]:
    """Whether the node is a part of an array, `a[1:, i]` or `a[:k][::-1]`, which is an alias of its elements."""
    return (
        isinstance(node, ast.Subscript)
        and (is_whole(node.value) or (is_part(node.value) and not _has_list(node)))
        and any(isinstance(part, ast.Slice) for part in walk(node.slice))
    )


def _has_list(node: ast.expr) -> bool:
    return any(isinstance(part, ast.List) for part in walk(node))


def is_shape(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "shape" and is_whole(node.value)


def takes_less(node: ast.expr, name: str) -> bool:
    """Whether the node contains a part with a bound, `x[1:]`, of the array with this name."""
    return any(
        isinstance(part, ast.Subscript)
        and isinstance(part.value, ast.Name)
        and part.value.id == name
        and any(isinstance(each, ast.Slice) and (each.lower or each.upper) for each in walk(part.slice))
        for part in walk(node)
    )


def selects(node: ast.expr, name: str) -> bool:
    """Whether the node is a part of the array with this name: `x[m]`."""
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == name


def named_values(node: ast.Assign | ast.AnnAssign) -> Iterator[tuple[str, ast.expr]]:
    """The names that an assignment assigns, with their values."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    if node.value is not None:
        for target in targets:
            yield from ((name.id, value) for name, value in named(target, node.value))


def outermost_loops(nodes: list[ast.stmt]) -> Iterator[ast.For | ast.While]:
    for node in nodes:
        if isinstance(node, ast.For | ast.While):
            yield node
        else:
            for body in ("body", "orelse"):
                yield from outermost_loops(getattr(node, body, []))


def is_stored(node: ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Store)


def is_element(node: ast.expr) -> TypeGuard[ast.Subscript]:
    """Whether `node` is a subscript x[i] without slices."""
    return isinstance(node, ast.Subscript) and not any(isinstance(part, ast.Slice) for part in walk(node.slice))


def row_of(node: ast.expr) -> tuple[str, int] | None:
    """The variable x of a subscript x[i, j], with the number of dimensions that are subscripted; 0 dimensions for
    x.real and np.real(x). None for other expressions."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) == 1:
        part, owner = node.func.attr, node.args[0]
    elif isinstance(node, ast.Attribute):
        part, owner = node.attr, node.value
    elif isinstance(node, ast.Subscript) and is_element(node):
        part, owner = "", node.value
    else:
        return None
    if not isinstance(owner, ast.Name) or part not in ("", "real", "imag"):
        return None
    if not isinstance(node, ast.Subscript):
        return owner.id, 0
    subscripts = subscripts_of(node)
    constants = [each.value for each in subscripts if isinstance(each, ast.Constant)]
    if any(isinstance(each, str) for each in constants):
        return None
    return owner.id, len(subscripts) if all(
        isinstance(each, int) for each in constants
    ) else 0  # None and ... consume no dimension


def chooses(node: ast.AST) -> bool:
    """Whether a statement returns or names a value that is chosen by `a if c else b`. Questions of types are not
    Python's, because compiled code gives it numbers of other types."""
    if not isinstance(node, ast.Return | ast.Assign) or not isinstance(node.value, ast.IfExp):
        return False
    names = {part.id for part in walk(node.value) if isinstance(part, ast.Name)}
    return names.isdisjoint(("isinstance", "type"))


def refused_parts(nodes: Sequence[ast.AST], refusals: Iterable[Refusal], line_shift: int) -> dict[ast.AST, Refusal]:
    """The simple statements among the nodes of a function, and the parts of heads of others, at the lines of these
    refusals in the file, each with its refusal."""
    found: dict[ast.AST, Refusal] = {}
    for refusal in refusals:
        line = refusal.line - line_shift
        here = [
            node
            for node in nodes
            if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
        ]
        for node in here:
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr):
                found[node] = refusal
            elif isinstance(node, ast.Return):
                found |= dict.fromkeys(walk(node), refusal)
            elif isinstance(node, ast.For | ast.While | ast.If):
                head = node.iter if isinstance(node, ast.For) else node.test
                if head.lineno <= line <= (head.end_lineno or head.lineno):
                    found |= dict.fromkeys(walk(head), refusal)
    return found
