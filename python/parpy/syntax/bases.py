"""Calls of methods of base classes: `super().f(x)` in a method of C is `__class__.__base__.f(self, x)`, where
`__class__` is the variable in which Python keeps C."""

from __future__ import annotations

import ast
import copy
from types import FunctionType

from .patterns import Function

_CLASS = "__class__"


def with_bases(node: Function, function: FunctionType) -> Function:
    """The function with such calls; `node` itself if it has none."""
    if not calls_base(function) or not node.args.args:
        return node
    made = copy.deepcopy(node)
    made.body = [_Bases(node.args.args[0].arg).visit(each) for each in made.body]
    return made


def calls_base(function: FunctionType) -> bool:
    """Whether it is a method with such calls."""
    return "super" in function.__code__.co_names and _CLASS in function.__code__.co_freevars


def finds_bases(function: FunctionType, kind: type) -> bool:
    """Whether such calls of an object of this class are those that `super()` finds: with several base classes it may
    find others."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    defined: type = cells[_CLASS].cell_contents
    base = defined.__base__
    return base is not None and kind.__mro__[kind.__mro__.index(defined) + 1 :] == base.__mro__


class _Bases(ast.NodeTransformer):
    def __init__(self, owner: str) -> None:
        self._owner = owner

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super"), args=[]), attr=name):
                base = ast.Attribute(ast.Name(_CLASS, ast.Load()), "__base__", ast.Load())
                node.func = ast.Attribute(base, name, ast.Load())
                node.args = [ast.Name(self._owner, ast.Load()), *node.args]
                for part in (node.func, *ast.walk(node.func), node.args[0]):
                    ast.copy_location(part, node)
        return node
