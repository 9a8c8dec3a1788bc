"""Calls of methods of base classes: `super().f(x)` in a method of C becomes `super(__class__, self).f(x)`, which works
in any function. `__class__` is the closure variable in which Python keeps C."""

from __future__ import annotations

import ast
from types import FunctionType

from .patterns import Function
from .walks import copy_of

_CLASS = "__class__"


def with_bases(node: Function, function: FunctionType) -> Function:
    """The function with such calls rewritten; `node` itself if it has none."""
    if not _calls_base(function) or not node.args.args:
        return node
    made = copy_of(node)
    made.body = [_Bases(node.args.args[0].arg).visit(each) for each in made.body]
    return made


def of_base(node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """The variables `__class__` and `self` of a rewritten call of super; None for other expressions."""
    match node:
        case ast.Call(func=ast.Name(id="super"), args=[ast.Name(id=name) as kind, owner]) if name == _CLASS:
            return kind, owner
    return None


def _calls_base(function: FunctionType) -> bool:
    return "super" in function.__code__.co_names and _CLASS in function.__code__.co_freevars


class _Bases(ast.NodeTransformer):
    def __init__(self, owner: str) -> None:
        self._owner = owner

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            node.args = [ast.copy_location(ast.Name(name, ast.Load()), node) for name in (_CLASS, self._owner)]
        return node
