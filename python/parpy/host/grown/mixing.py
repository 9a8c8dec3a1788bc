"""Loops that compute with elements of a list and with other numbers. Python's integers are weak beside NumPy's: added
to an int8 they become int8. In the memory of compiled lists they are int64."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterator
from typing import NamedTuple

from ...syntax.walks import walk

_SAFE = frozenset(("len", "range", "int", "float", "bool", "enumerate", "append", "pop", "popleft", "add", "discard"))
_PASSING = frozenset(("min", "max", "abs", "get", "items", "keys", "values", "reversed", "zip"))


class Mixing(NamedTuple):
    """Whether a loop computes with elements, or with values that follow from them, and with other numbers that may be
    NumPy's; and the names whose values before the loop are such numbers if they are NumPy's (`total = total + v`)."""

    always: bool
    before: frozenset[str]


def mixing(node: ast.AST, names: Container[str]) -> Mixing:
    """What a loop mixes with the elements of the lists, dicts and sets with these names."""
    nodes = list(walk(node))
    assigned = [pair for part in nodes for pair in _assigned(part)]
    elements: set[str] = set()
    while True:
        more = {name for name, value in assigned if _has_element(value, names, elements)}
        if more <= elements:
            break
        elements |= more
    plain = {name for name, _ in assigned}

    def is_plain(value: ast.expr) -> bool:
        match value:
            case ast.Constant():
                return True
            case ast.Name(id=name):
                return name in plain or name in names
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return all(map(is_plain, parts))
            case ast.Subscript(value=ast.Name(id=name)):
                return name in names
            case ast.UnaryOp(operand=operand):
                return is_plain(operand)
            case ast.BinOp(left=left, right=right):
                return is_plain(left) and is_plain(right)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name))) if name in names:
                return all(map(is_plain, value.args))
            case ast.Call(func=ast.Name(id=name)):
                return name in _SAFE or (name in _PASSING and all(map(is_plain, value.args)))
        return False

    while others := {name for name, value in assigned if name in plain and not is_plain(value)}:
        plain -= others
    return Mixing(_mixes(nodes, names, elements, is_plain), frozenset(plain & elements))


def _mixes(
    nodes: list[ast.AST], names: Container[str], elements: Container[str], is_plain: Callable[[ast.expr], bool]
) -> bool:
    for part in nodes:
        match part:
            case ast.BinOp(left=left, right=right):
                operands = [left, right]
            case ast.AugAssign(target=target, value=value):
                operands = [target, value]
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name not in _SAFE | _PASSING:
                if any(_has_element(each, names, elements) for each in part.args):
                    return True
                continue
            case _:
                continue
        if any(_has_element(each, names, elements) for each in operands) and not all(map(is_plain, operands)):
            return True
    return False


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that the node assigns, each with the value that it gets or is a part of."""
    match node:
        case ast.Assign(targets=targets, value=value):
            pairs = [(target, value) for target in targets]
        case ast.AugAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
            pairs = [(target, value)]
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
            pairs = [(target, value)]
        case _:
            return
    for target, value in pairs:
        for part in walk(target):
            if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
                yield part.id, value


def _has_element(value: ast.expr, names: Container[str], elements: Container[str]) -> bool:
    """Whether an element is part of the value, other than as a subscript of an array."""
    if isinstance(value, ast.Name):
        return value.id in elements or value.id in names
    if isinstance(value, ast.Subscript):
        return isinstance(value.value, ast.Name) and value.value.id in names
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in ("len", "float"):
        return False
    return any(_has_element(part, names, elements) for part in _parts(value))


def _parts(value: ast.expr) -> list[ast.expr]:
    return [part for part in ast.iter_child_nodes(value) if isinstance(part, ast.expr)]
