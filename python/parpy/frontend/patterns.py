"""Facts about an expression that the syntax tree alone shows: constants, keys, subscripted names."""

from __future__ import annotations

import ast
from typing import NamedTuple


def first_name(node: ast.expr) -> ast.expr:
    """The x of x.a[i].b, or what stands in its place."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node


def integer_constant(node: ast.expr, limit: int = 64) -> int | None:
    """The value of an integer constant below the limit, which may have a sign; None of others."""
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, node = -1, node.operand
    if isinstance(node, ast.Constant) and type(node.value) is int and node.value < limit:
        return sign * node.value
    return None


def string_key(node: ast.Subscript) -> str | None:
    """The k of d['k']."""
    index = node.slice
    return index.value if isinstance(index, ast.Constant) and isinstance(index.value, str) else None


class GotEntry(NamedTuple):
    """What `d.get("k", v)` asks for."""

    owner: ast.expr
    key: str
    default: ast.expr | None


def got_entry(node: ast.AST) -> GotEntry | None:
    """What such a call asks for; None of others."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=owner, attr="get") | ast.Subscript(value=owner, slice=ast.Constant(value="get")),
            args=[ast.Constant(value=str(key)), *default],
            keywords=[],
        ) if len(default) < 2:
            return GotEntry(owner, key, default[0] if default else None)
    return None


def chooses_place(node: ast.expr) -> bool:
    """Whether it is one of several variables, attributes or parts of arrays: `a if c else b[1:]`."""
    if isinstance(node, ast.IfExp):
        return chooses_place(node.body) and chooses_place(node.orelse)
    return isinstance(node, ast.Name | ast.Attribute | ast.Subscript)


def is_literal(node: ast.expr) -> bool:
    """Whether `node` is a constant, which may have a sign."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant)


def is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...
