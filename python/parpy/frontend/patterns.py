"""Facts about an expression that the syntax tree alone shows: constants, keys, subscripted names."""

from __future__ import annotations

import ast


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


def is_literal(node: ast.expr) -> bool:
    """Whether `node` is a constant, which may have a sign."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant)


def is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...
