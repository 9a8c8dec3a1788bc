"""Lowers methods of Python's tuples and integers: `t.index(v)`, `t.count(v)`, `n.bit_length()`."""

from __future__ import annotations

import ast

from ... import _native
from ...library import methods
from ...syntax.lists import fixed_lists
from ...syntax.walks import walk
from ..expressions.tuples import spelled_out
from ..forms import TupleKind
from ..lowering import lower
from ..scope import FunctionScope
from .functions import call_library
from .intrinsics import TUPLE_METHODS, Intrinsic


def python_method(fn: FunctionScope, node: ast.Call) -> _native.Expr | None:
    """The call of such a method of a value; None for other calls."""
    func = node.func
    if fn.kernel or not isinstance(func, ast.Attribute) or node.keywords or fn.resolve(func) is not None:
        return None
    if func.attr == "bit_length" and not node.args and not fn.starts_undefined(func):
        number = fn.module.op("as_index", [lower(fn, func.value)], fn.span(node))
        return call_library(fn, methods.bit_length, [number], node)
    if func.attr in TUPLE_METHODS and len(node.args) == 1 and _is_tuple(fn, func.value):
        return _of_tuple(fn, node, func.attr)
    return None


def lower_tuple_method(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """The call of such a method of a tuple outside of the function."""
    return _of_tuple(fn, node, intrinsic.op)


def _of_tuple(fn: FunctionScope, node: ast.Call, method: str) -> _native.Expr:
    assert isinstance(node.func, ast.Attribute)
    operands = [spelled_out(fn, node.func.value), lower(fn, node.args[0])]
    return call_library(fn, getattr(methods, method), operands, node)


def _is_tuple(fn: FunctionScope, node: ast.expr) -> bool:
    """Whether the text or the call's arguments show that the value is a tuple, or a list that is only read."""
    if isinstance(node, ast.Tuple | ast.List):
        return True
    if not isinstance(node, ast.Name) or node.id not in fn.scope.locals:
        return False
    nodes = list(walk(fn.node))
    stores = sum(isinstance(part, ast.Name) and part.id == node.id and part.ctx is not node.ctx for part in nodes)
    if node.id in fn.parameters:
        return not stores and isinstance(fn.program.known_kinds.get(node.id), TupleKind) and fn.entry
    fixed = fixed_lists(nodes)
    given = [part for part in nodes if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name)]
    values = [each.value for each in given if each.targets[0].id == node.id]  # type: ignore[attr-defined]
    return (len(values) == stores and all(isinstance(each, ast.Tuple) for each in values)) or node.id in fixed
