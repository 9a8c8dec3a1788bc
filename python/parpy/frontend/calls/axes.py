"""Lowers functions that change the axes or the shape of an array, such as `np.transpose`, `x.reshape(…)`, `np.ravel`
and `x.flat`.
"""

from __future__ import annotations

import ast

from ... import _native
from ...syntax.patterns import integer_constant, is_none
from ..expressions.arrays import outside_items
from ..expressions.evaluation import lower_all
from ..expressions.tuples import parts_given
from ..lowering import lower
from ..scope import FunctionScope
from .functions import by_numpy
from .intrinsics import Intrinsic
from .reductions import method_of_value


def lower_axes(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """np.transpose(x, axes), np.reshape(x, shape), np.ravel(x)"""
    if not fn.names_arrays:
        fn.error("P023", node, f"'{intrinsic.name}' takes no array in CudaPy", "write the subscripts out")
        return fn.poison(node)
    return _moved(fn, node, intrinsic.op, node.args[0], [*node.args[1:], *(each.value for each in node.keywords)])


def lower_attribute(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """np.shape(x), np.ndim(x)"""
    return lower(fn, ast.copy_location(ast.Attribute(node.args[0], intrinsic.op, ast.Load()), node))


def lower_size(fn: FunctionScope, node: ast.Call, _: Intrinsic) -> _native.Expr:
    """np.size(x), np.size(x, 1)"""
    given = [*node.args[1:], *(each.value for each in node.keywords)]
    size = ast.copy_location(ast.Attribute(node.args[0], "shape" if given else "size", ast.Load()), node)
    return lower(fn, ast.copy_location(ast.Subscript(size, given[0], ast.Load()), node) if given else size)


def lower_expanded(fn: FunctionScope, node: ast.Call, _: Intrinsic) -> _native.Expr:
    """np.expand_dims(x, 1) is x[:, None]."""
    given = [*node.args[1:], *(each.value for each in node.keywords)]
    axis = integer_constant(given[0]) if given else None
    if axis is None:
        fn.error("P023", node, "the axis of 'np.expand_dims' is no integer constant", "write it out")
        return fn.poison(node)
    rest: list[ast.expr] = [ast.Slice() for _ in range(axis if axis >= 0 else -1 - axis)]
    added: ast.expr = ast.Constant(None)
    places = [*rest, added] if axis >= 0 else [ast.Constant(...), added, *rest]
    made = ast.copy_location(ast.Subscript(node.args[0], ast.Tuple(places, ast.Load()), ast.Load()), node)
    return lower(fn, ast.fix_missing_locations(made))


def method_of_axes(fn: FunctionScope, node: ast.Call) -> _native.Expr | None:
    """x.transpose(1, 0), x.reshape(3, -1), x.ravel(), x.flatten(); None for other calls."""
    func = method_of_value(fn, node)
    if func is None or not fn.names_arrays or (node.keywords and not _in_c_order(node)):
        return None
    if func.attr not in ("transpose", "reshape", "ravel", "flatten"):
        return None
    if bool(node.args) != (func.attr == "reshape") and func.attr != "transpose":
        return None
    if func.attr == "flatten":
        return by_numpy(fn, _moved(fn, node, "ravel", func.value, []), node)
    return _moved(fn, node, func.attr, func.value, node.args)


def _in_c_order(node: ast.Call) -> bool:
    """Whether the only keyword is order="C", as in x.ravel(order="C"), which is the default."""
    given = [(each.arg, each.value.value) for each in node.keywords if isinstance(each.value, ast.Constant)]
    return given == [("order", "C")] and len(node.keywords) == 1


def _moved(fn: FunctionScope, node: ast.Call, method: str, array: ast.expr, arguments: list[ast.expr]) -> _native.Expr:
    span = fn.span(node)
    if method == "ravel":
        return fn.module.op("reshape", [lower(fn, array), fn.module.constant(-1, span)], span)
    parts = arguments
    if len(arguments) == 1:
        parts = parts_given(arguments[0]) if method == "reshape" else outside_items(fn, arguments[0]) or arguments
    if method == "reshape":
        value, *shape = lower_all(fn, [array, *parts])
        return fn.module.op("reshape", [value, *shape], span)
    if any(is_none(part) for part in parts):
        parts = []
    axes = [integer_constant(part) for part in parts]
    if None in axes:
        fn.error("P023", node, "the axes of a transposition must be integer constants", "write them out")
        return fn.poison(node)
    numbers = [fn.module.constant(axis, span) for axis in axes if axis is not None]
    return fn.module.op("transpose", [lower(fn, array), *numbers], span)
