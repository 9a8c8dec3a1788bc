"""Lowers Python's `max`, `min` and `sum` over an array or a tuple to sequential loops, so that the treatment of NaN and
the types of results are Python's, unlike those of NumPy's functions (reductions.py)."""

from __future__ import annotations

import ast

from ... import _native
from ..expressions.arrays import outside_items
from ..expressions.evaluation import lower_all
from ..lowering import lower
from ..scope import FunctionScope
from .functions import lower_fold
from .generators import Generated, lower_by_key, lower_generated
from .intrinsics import Intrinsic
from .tensors import lower_tensor_reduction

_BETTER = {"min": "<", "max": ">"}


def lower_extreme(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """max(x), max((a, b)), max(a, b), max(x, key=f)"""
    if node.keywords:
        return lower_by_key(fn, node, intrinsic)
    if len(node.args) > 1:
        return lower_fold(fn, node, intrinsic)
    if isinstance(node.args[0], Generated):
        return lower_generated(fn, node, intrinsic.name, node.args[0])
    items = outside_items(fn, node.args[0])
    if items:
        spread = ast.copy_location(ast.Call(node.func, items, []), node)
        return lower_fold(fn, spread, intrinsic)
    if items is not None:
        fn.error("P023", node, f"'{intrinsic.name}' needs an argument", f"give {intrinsic.name} a value")
        return fn.poison(node)
    if (reduced := lower_tensor_reduction(fn, node, intrinsic.op)) is not None:
        return reduced
    return _extreme_of_array(fn, node, intrinsic)


def _extreme_of_array(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """Python's max or min of an array: a later element replaces the best one only if it is strictly better."""
    array, span = _array(fn, node.args[0]), fn.span(node)
    shown = f"{ast.unparse(node.args[0])}[0]"  # the name of an element in messages; it may be a row
    best, taken, number = fn.temporary(span, shown), fn.temporary(span, shown), fn.temporary(span)
    fail = fn.module.fail("P427", f"{intrinsic.name}: the array has no elements", [], span)
    first = fn.module.assign(best, fn.module.load(array, [fn.integer(0, node)], span), None, span)
    is_empty = fn.op("==", node, _length(fn, node, array), fn.integer(0, node))
    fn.out.append(fn.module.if_(is_empty, [fail], [first], span))
    take = fn.module.assign(taken, fn.module.load(array, [fn.module.read(number, span)], span), None, span)
    better = fn.op(_BETTER[intrinsic.op], node, fn.module.read(taken, span), fn.module.read(best, span))
    keep = fn.module.assign(best, fn.module.read(taken, span), None, span)
    _over(fn, node, array, number, 1, [take, fn.module.if_(better, [keep], [], span)])
    return fn.module.read(best, span)


def lower_sum(fn: FunctionScope, node: ast.Call, _: Intrinsic) -> _native.Expr:
    """sum(x), sum((a, b), start)"""
    given = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
    if len(given) > 1:
        fn.error("P023", node, "'sum' gets two values for 'start'", "leave one out")
        return fn.poison(node)
    if isinstance(node.args[0], Generated):
        return lower_generated(fn, node, "sum", node.args[0], given[0] if given else None)
    span = fn.span(node)
    items = outside_items(fn, node.args[0])
    if items is not None:
        *values, result = lower_all(fn, [*items, *given]) if given else [*lower_all(fn, items), fn.integer(0, node)]
        for value in values:
            result = fn.op("+", node, result, value)
        return result
    if (reduced := lower_tensor_reduction(fn, node, "sum")) is not None:
        return reduced
    array = _array(fn, node.args[0])
    total = fn.hold(lower(fn, given[0]) if given else fn.integer(0, node), node, shown=ast.unparse(node))
    number = fn.temporary(span)
    element = fn.module.load(array, [fn.module.read(number, span)], span)
    added = fn.op("+", node, fn.module.read(total, span), element)
    _over(fn, node, array, number, 0, [fn.module.assign(total, added, None, span)])
    return fn.module.read(total, span)


def _array(fn: FunctionScope, node: ast.expr) -> _native.Var:
    return fn.hold(lower(fn, node), node, shown=ast.unparse(node))


def _length(fn: FunctionScope, node: ast.Call, array: _native.Var) -> _native.Expr:
    return fn.op("length", node, fn.module.read(array, fn.span(node)))


def _over(
    fn: FunctionScope, node: ast.Call, array: _native.Var, number: _native.Var, first: int, body: list[_native.Stmt]
) -> None:
    """Appends the loop over the indices of the elements, from `first` on."""
    span = fn.span(node)
    bounds = fn.integer(first, node), _length(fn, node, array), fn.integer(1, node)
    fn.out.append(fn.module.for_(number, *bounds, body, span))
