"""Lowers NumPy's functions that make arrays, such as `np.zeros`, `np.full_like` and `np.copy`, outside of kernels.

An array filled with one value is an operator like any other: it needs no memory unless it is assigned to a name.
"""

from __future__ import annotations

import ast

from ... import _native
from ...syntax.patterns import is_absent, is_none
from ...vocabulary.operators import scalar_of_text
from ..expressions.dtypes import type_operand
from ..expressions.evaluation import lower_all
from ..expressions.tuples import new_array, parts_given
from ..lowering import lower
from ..scope import FunctionScope
from .functions import by_numpy
from .intrinsics import Intrinsic

_VALUES = {"zeros": 0, "ones": 1, "empty": 0}


def lower_filled(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """np.zeros(shape, dtype), np.full(shape, value, dtype), and functions with an array's shape: np.zeros_like(x)."""
    kind, like = intrinsic.op.removesuffix("_like"), intrinsic.op.endswith("_like")
    if fn.kernel:
        fn.error(
            "P023", node, f"'{intrinsic.name}' makes no arrays in kernels", "use cuda.local.array or cuda.shared.array"
        )
        return fn.poison(node)
    names = ["shape", *(["fill_value"] if kind == "full" else []), "dtype"]
    given = dict(zip(names, node.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
    span = fn.span(node)
    dtype = given.get("dtype")
    value = lower(fn, given["fill_value"]) if kind == "full" else fn.module.constant(_VALUES[kind], span)
    given_type = not is_absent(dtype)
    may_be_none = isinstance(dtype, ast.Name) and dtype.id in fn.scope.locals
    if kind != "full" and not like and (may_be_none or not given_type):
        value = fn.module.convert(value, "f64", span)
    if dtype is not None and given_type:
        value = converted(fn, value, dtype)
    made = _like(fn, value, node.args[0], node) if like else _shaped(fn, value, node.args[0], node)
    return fn.module.op("empty", [made], span) if kind == "empty" else made


def lower_copy(fn: FunctionScope, node: ast.Call, _: Intrinsic) -> _native.Expr:
    """np.copy(x)"""
    return by_numpy(fn, lower(fn, node.args[0]), node)


def lower_array(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """np.array of a list or tuple display, or of an array."""
    if fn.kernel:
        fn.error(
            "P023", node, f"'{intrinsic.name}' makes no arrays in kernels", "use cuda.local.array or cuda.shared.array"
        )
        return fn.poison(node)
    made = new_array(fn, node.args[0])
    given = dict(zip(("dtype",), node.args[1:], strict=False))
    given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
    dtype = given.get("dtype")
    if dtype is not None and not is_none(dtype):
        made = converted(fn, made, dtype)
    return made


def converted(fn: FunctionScope, value: _native.Expr, dtype: ast.expr) -> _native.Expr:
    """The value converted to the type that the expression `dtype` names."""
    span = fn.span(dtype)
    if isinstance(dtype, ast.Constant) and isinstance(dtype.value, str):
        scalar = scalar_of_text(dtype.value)
        if scalar is not None:
            return fn.module.convert(value, scalar, span)
    return fn.module.op("convert_like", [value, type_operand(fn, dtype)], span)


def _like(fn: FunctionScope, value: _native.Expr, array: ast.expr, node: ast.Call) -> _native.Expr:
    return fn.module.op("like", [value, lower(fn, array)], fn.span(node))


def _shaped(fn: FunctionScope, value: _native.Expr, shape: ast.expr, node: ast.Call) -> _native.Expr:
    if isinstance(shape, ast.Attribute) and shape.attr == "shape" and fn.resolve(shape) is None:
        return _like(fn, value, shape.value, node)
    return fn.module.op("full", [value, *lower_all(fn, parts_given(shape))], fn.span(node))
