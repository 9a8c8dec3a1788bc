"""Calls of functions and methods of NumPy that store their results to an array, `np.add(a, b, out=c)`; that is their
value."""

from __future__ import annotations

import ast
from typing import NamedTuple

import numpy as np

from ...library import is_in_library
from ...syntax.fields import is_of_value
from ..calls.intrinsics import intrinsic_of
from ..scope import FunctionScope

# Where the array stands among the arguments; of ufuncs behind the operands.
_PLACES = {np.clip: 3, np.dot: 2}
_KEEP_KIND = (np.clip, np.dot, np.round, np.std, np.var)  # besides ufuncs


class Output(NamedTuple):
    """The array, the call without it, the mask of the elements that are stored to, and whether these must be able to
    hold the kind of the results: reductions convert theirs, float64 to int64 as well."""

    target: ast.expr
    call: ast.Call
    where: ast.expr | None
    keeps_kind: bool


def output_of(fn: FunctionScope, call: ast.Call) -> Output | None:
    """What such a call stores to; None of others."""
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
    """Whether it is a function of NumPy, or a method of an array."""
    binding = fn.resolve(call.func)
    if binding is None:
        func = call.func
        return isinstance(func, ast.Attribute) and is_of_value(func) and not fn.starts_undefined(func)
    known = intrinsic_of(binding.value)
    return is_in_library(binding.value) or (known is not None and known.name.startswith("np."))


def _place(function: object) -> int | None:
    return next((place for known, place in _PLACES.items() if known is function), None)
