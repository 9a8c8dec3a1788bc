"""Evaluates Python's functions of string constants to constants: `ord("A")`, `len("abc")`, `b"A"[0]`."""

from __future__ import annotations

import ast
import copy
from types import FunctionType

from .patterns import Function

_FUNCTIONS = {"len": len, "ord": ord}


def with_constants(node: Function, function: FunctionType) -> Function:
    """A copy of the function with constants in place of such calls."""
    code = function.__code__
    own = {*code.co_varnames, *code.co_cellvars, *code.co_freevars, *function.__globals__}
    if not any(_value(part) is not None and _function(part) not in own for part in ast.walk(node)):
        return node
    made: Function = _Constants(own).visit(copy.deepcopy(node))
    return made


def _function(node: ast.AST) -> str:
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def _value(node: ast.AST) -> int | None:
    """The value of such an expression; None for other nodes."""
    try:
        match node:
            case ast.Call(args=[ast.Constant(value=str() | bytes() as text)], keywords=[]):
                return _FUNCTIONS[_function(node)](text)
            case ast.Subscript(value=ast.Constant(value=bytes() as data), slice=ast.Constant(value=int() as place)):
                return data[place]
    except (KeyError, TypeError, IndexError):
        return None
    return None


class _Constants(ast.NodeTransformer):
    def __init__(self, own: set[str]) -> None:
        self._own = own

    def generic_visit(self, node: ast.AST) -> ast.AST:
        value = _value(node)
        if value is not None and _function(node) not in self._own:
            return ast.copy_location(ast.Constant(value), node)
        return super().generic_visit(node)
