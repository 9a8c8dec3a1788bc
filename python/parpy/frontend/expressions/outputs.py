"""Calls of NumPy's functions and methods that store their result to an array and return that array, such as
`np.add(a, b, out=c)`."""

from __future__ import annotations

import ast
from typing import NamedTuple

import numpy as np

from ... import _native
from ...library import is_in_library
from ...syntax.fields import is_of_value
from ..calls.intrinsics import intrinsic_of
from ..lowering import lower
from ..scope import FunctionScope

# The position of the output among the arguments; ufuncs have it after the operands.
_PLACES = {np.clip: 3, np.dot: 2}
_KEEP_KIND = (np.clip, np.dot, np.round, np.std, np.var)  # functions that, like ufuncs, refuse conversions of kinds
_ADDS = ("sum", "prod", "mean", "cumsum", "cumprod")


class Output(NamedTuple):
    """The array, the call without it, the mask of the stored elements, and whether the array's type must hold the kind
    of the results. Reductions convert their results to any type, also float64 to int64."""

    target: ast.expr
    call: ast.Call
    where: ast.expr | None
    keeps_kind: bool


def accumulates(fn: FunctionScope, call: ast.Call) -> bool:
    """Whether the call computes a sum or a product, which is accumulated in a type that depends on the output array."""
    return isinstance(call.func, ast.Attribute | ast.Name) and _name_of(fn, call.func) in _ADDS


def accumulated(fn: FunctionScope, output: Output, array: _native.Var) -> ast.Call:
    """The call. If it accumulates, its elements are converted to the common type of the elements and the array."""
    call, func = output.call, output.call.func
    if not accumulates(fn, call):
        return call
    is_method = isinstance(func, ast.Attribute) and fn.resolve(func) is None
    operand = func.value if isinstance(func, ast.Attribute) and is_method else call.args[0]
    span = fn.span(operand)
    terms = fn.hold(lower(fn, operand), operand, shown=ast.unparse(operand))
    like = fn.op("tuple", operand, fn.module.read(terms, span), fn.module.read(array, span))
    value = fn.module.op("convert_like", [fn.module.read(terms, span), like], span)
    name = ast.copy_location(ast.Name(fn.own_variable("terms", operand), ast.Load()), operand)
    fn.out.append(fn.module.assign(fn.variables[name.id], value, None, span))
    fn.assigned.add(name.id)
    if isinstance(func, ast.Attribute) and is_method:
        func = ast.copy_location(ast.Attribute(name, func.attr, ast.Load()), func)
        return ast.copy_location(ast.Call(func, call.args, call.keywords), call)
    return ast.copy_location(ast.Call(func, [name, *call.args[1:]], call.keywords), call)


def _name_of(fn: FunctionScope, func: ast.Attribute | ast.Name) -> str:
    """NumPy's name of an accumulating function or of a method; empty for other functions."""
    binding = fn.resolve(func)
    if binding is None:
        return func.attr if isinstance(func, ast.Attribute) else ""
    return next((name for name in _ADDS if binding.value is getattr(np, name)), "")


def output_of(fn: FunctionScope, call: ast.Call) -> Output | None:
    """The output of a call that stores its result to an array; None for other calls."""
    if fn.kernel or not _may_store(fn, call):
        return None
    binding = fn.resolve(call.func)
    function = None if binding is None else binding.value
    place = function.nin if isinstance(function, np.ufunc) else _place(function)
    given = {each.arg: each.value for each in call.keywords}
    arguments = call.args
    target = given.pop("out", None)
    where = given.pop("where", None) if isinstance(function, np.ufunc) and target is not None else None
    if target is None and place is not None and len(arguments) == place + 1:
        *arguments, target = arguments
    if isinstance(target, ast.Tuple) and len(target.elts) == 1:
        target = target.elts[0]
    if not isinstance(target, ast.Name | ast.Subscript | ast.Attribute):
        return None
    keywords = [each for each in call.keywords if each.arg in given]
    made = ast.copy_location(ast.Call(call.func, arguments, keywords), call)
    keeps_kind = isinstance(function, np.ufunc) or any(function is each for each in _KEEP_KIND)
    return Output(target, made, where, keeps_kind)


def _may_store(fn: FunctionScope, call: ast.Call) -> bool:
    """Whether the call is one of a NumPy function, or of a method of an array."""
    binding = fn.resolve(call.func)
    if binding is None:
        func = call.func
        return isinstance(func, ast.Attribute) and is_of_value(func) and not fn.starts_undefined(func)
    known = intrinsic_of(binding.value)
    return is_in_library(binding.value) or (known is not None and known.name.startswith("np."))


def _place(function: object) -> int | None:
    return next((place for known, place in _PLACES.items() if known is function), None)
