"""Texts that a function computes or returns, which Python makes, and tests for identity."""

from __future__ import annotations

import ast


def _is_text(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_made_text(node: ast.AST) -> bool:
    """Whether the node computes a text: an f-string, `"%d" % n`, `"a" + b`, or a method of a literal text."""
    match node:
        case ast.JoinedStr():
            return True
        case ast.BinOp(left=left):
            return _is_text(left) or is_made_text(left)
        case ast.Call(func=ast.Attribute(value=owner)):
            return _is_text(owner)
    return False


def gives_text(value: ast.expr | None) -> bool:
    """Whether the value is a text, chooses a text, or is a tuple with one."""
    if isinstance(value, ast.IfExp):
        return gives_text(value.body) or gives_text(value.orelse)
    if isinstance(value, ast.Tuple):
        return any(map(gives_text, value.elts))
    return _is_text(value) or (value is not None and is_made_text(value))


def is_identity(node: ast.AST) -> bool:
    """Whether the node is `a is b`, with names on both sides."""
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], ast.Is | ast.IsNot):
        return False
    return isinstance(node.left, ast.Name) and isinstance(node.comparators[0], ast.Name)
