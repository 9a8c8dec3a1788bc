"""Unrolls loops over the entries of a dict that is an argument: the body is repeated for each entry, with the key as a
text and the value as an entry, `d["a"]`."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping

from ...syntax.patterns import breaks, continues
from ...syntax.walks import copy_of, walk
from ..expressions.entries import entries_of, is_assigned
from ..scope import FunctionScope


def over_entries(fn: FunctionScope, node: ast.For) -> list[ast.stmt] | None:
    """The statements for a loop over `d`, `d.keys()`, `d.values()` or `d.items()`; None for other loops."""
    entries = entries_of(fn, node.iter)
    if entries is None:
        return None
    made = _in_turn(fn, node, [_body(fn, node, entry) for entry in entries])
    for part in (part for statement in made for part in walk(statement)):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, node.iter)
    return made


def _body(fn: FunctionScope, node: ast.For, entry: ast.expr) -> list[ast.stmt]:
    """The body for one entry. A target that only the loop reads and that the body never assigns is replaced."""
    whole, target = ast.Module(node.body, []), node.target
    stores = any(isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store) for part in walk(whole))
    pairs = [(target, entry)]
    if isinstance(entry, ast.Tuple) and isinstance(target, ast.Tuple | ast.List) and len(target.elts) == 2:
        pairs = [*zip(target.elts, entry.elts, strict=True)]
    in_place: dict[str, ast.expr] = {}
    first: list[ast.stmt] = []
    for one, value in pairs:
        is_fixed = isinstance(value, ast.Constant) or not stores
        is_name = isinstance(one, ast.Name) and is_fixed and not is_assigned(whole, one.id)
        if isinstance(one, ast.Name) and is_name:
            in_place[one.id] = value
        if not isinstance(one, ast.Name) or not is_name or _is_read_elsewhere(fn, node, one.id):
            first.append(ast.Assign([one], value))
    return [*first, *(_Named(in_place).visit(copy_of(each)) for each in node.body)]


def _is_read_elsewhere(fn: FunctionScope, node: ast.For, name: str) -> bool:
    """Whether the variable also occurs outside of the loop."""
    everywhere, here = (Counter(p.id for p in walk(each) if isinstance(p, ast.Name)) for each in (fn.node, node))
    return everywhere[name] > here[name]


def _in_turn(fn: FunctionScope, node: ast.For, bodies: list[list[ast.stmt]]) -> list[ast.stmt]:
    """The bodies in sequence. If there are breaks, each body is a loop with one iteration, whose else branch has the
    following bodies."""
    if not breaks(node.body) and not continues(node.body):
        return [each for body in (*bodies, node.orelse) for each in body]
    behind = node.orelse
    for body in reversed(bodies):
        once = ast.Name(fn.own_variable("once", node.iter), ast.Store())
        behind = [ast.For(once, ast.Tuple([ast.Constant(0)], ast.Load()), body, behind)]
    return behind


class _Named(ast.NodeTransformer):
    """Replaces names by expressions."""

    def __init__(self, found: Mapping[str, ast.expr]) -> None:
        self._found = found

    def visit_Name(self, node: ast.Name) -> ast.expr:
        found = self._found.get(node.id)
        if found is None:
            return node
        made = copy_of(found)
        for part in walk(made):
            ast.copy_location(part, node)
        return made
