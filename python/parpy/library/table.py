"""The table of the NumPy functions and methods that the library implements."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable
from functools import partial
from types import BuiltinMethodType
from typing import Any

import numpy as np

from ..syntax.names import callable_source
from ..syntax.patterns import is_none
from ..syntax.source import FunctionSource, capture
from . import arrays, counting, for_kernels, joining, order, without_nan
from .along import along, at
from .einsum import einsum, subscripts_of
from .items import item

# By NumPy function, its implementations, of which the first one with the number of arguments is called.
_FUNCTIONS: dict[Any, tuple[Callable[..., Any], ...]] = {
    np.allclose: (arrays.allclose,),
    np.arange: (arrays.arange_to, arrays.arange),
    np.argmax: (order.argmax, partial(along, "argmax")),
    np.argmin: (order.argmin, partial(along, "argmin")),
    np.argsort: (order.argsort, partial(along, "argsort")),
    np.array_equal: (counting.array_equal,),
    np.atleast_2d: (joining.atleast_2d,),
    np.average: (arrays.average,),
    np.bincount: (counting.bincount,),
    np.column_stack: (joining.column_stack,),
    np.concatenate: (joining.concatenate,),
    np.convolve: (arrays.convolve,),
    np.cross: (arrays.cross,),
    np.cumprod: (arrays.cumprod, partial(along, "cumprod")),
    np.cumsum: (arrays.cumsum, partial(along, "cumsum")),
    np.delete: (arrays.delete,),
    np.diag: (arrays.diag,),
    np.diff: (arrays.diff,),
    np.digitize: (counting.digitize,),
    np.dstack: (joining.dstack,),
    np.flatnonzero: (counting.flatnonzero,),
    np.flip: (arrays.flip,),
    np.fliplr: (arrays.fliplr,),
    np.flipud: (arrays.flipud,),
    np.gradient: (arrays.gradient,),
    np.histogram: (counting.histogram, counting.histogram_density),
    np.hstack: (joining.hstack,),
    np.inner: (arrays.inner,),
    np.interp: (arrays.interp,),
    np.isclose: (arrays.isclose,),
    np.isin: (arrays.isin,),
    np.kron: (arrays.kron,),
    np.linalg.norm: (arrays.norm, arrays.norm_along),
    np.linspace: (arrays.linspace,),
    np.median: (order.median, partial(along, "median")),
    np.nonzero: (counting.nonzero,),
    np.percentile: (order.percentile,),
    np.polyval: (arrays.polyval,),
    np.quantile: (order.quantile,),
    np.repeat: (arrays.repeat,),
    np.roll: (arrays.roll, arrays.roll_along),
    np.searchsorted: (order.searchsorted,),
    np.sort: (order.sort, partial(along, "sort")),
    np.take: (arrays.take,),
    np.tile: (arrays.tile,),
    np.trace: (arrays.trace,),
    np.tril: (arrays.tril,),
    np.triu: (arrays.triu,),
    np.stack: (joining.stack,),
    np.unique: (counting.unique, counting.unique_counts, counting.unique_index, counting.unique_inverse),
    np.vdot: (arrays.vdot,),
    np.vstack: (joining.vstack,),
}
_FUNCTIONS |= {
    np.add.accumulate: (partial(along, "cumsum", "np.add.accumulate"),),
    np.multiply.accumulate: (partial(along, "cumprod", "np.multiply.accumulate"),),
    np.maximum.accumulate: (partial(along, "running_maximum", "np.maximum.accumulate"),),
    np.minimum.accumulate: (partial(along, "running_minimum", "np.minimum.accumulate"),),
}
_WITHOUT_NAN = {
    getattr(np, each): (getattr(without_nan, each),)
    for each in ("nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum", "nanvar")
}
_FUNCTIONS |= _WITHOUT_NAN
# Functions that the library runs only in loops, on the small arrays of iterations; elsewhere NumPy itself is called.
_FOR_LOOPS: frozenset[Any] = frozenset((
    np.array_equal, np.average, np.bincount, np.convolve, np.delete, np.diag, np.digitize, np.flatnonzero, np.interp,
    np.kron, np.nonzero, np.take, np.unique,
))  # fmt: skip
# Functions that allocate no memory, so that kernels may call them as well.
_NUMBERS: frozenset[Any] = frozenset((
    np.allclose, np.argmax, np.argmin, np.array_equal, np.average, np.inner, np.isclose, np.linalg.norm, np.polyval,
    np.trace, np.vdot, *_WITHOUT_NAN,
))  # fmt: skip
# Implementations without memory, for kernels alone.
_IN_KERNELS: dict[Any, tuple[Callable[..., Any], ...]] = {
    getattr(np, each): (getattr(for_kernels, each),)
    for each in (
        "angle",
        "digitize",
        "interp",
        "median",
        "nan_to_num",
        "percentile",
        "quantile",
        "searchsorted",
        "sinc",
    )
}
# Functions whose result is an array for all arguments.
_ARRAYS: frozenset[Any] = frozenset((
    np.cumprod, np.cumsum, np.diff, np.flip, np.flipud, np.repeat, np.roll, np.sort, np.tile, np.tril, np.triu,
))  # fmt: skip
# The methods `at` of ufuncs, which store to their first argument.
_UPDATES = {getattr(np, name).at: name for name in ("add", "subtract", "multiply", "maximum", "minimum")}
# Arguments that choose the results of a function: keywords with the value True.
_FLAGS = {"density", "return_counts", "return_index", "return_inverse"}
_MOST_SUBSCRIPTS = 3
for _name in ("trapezoid", "trapz"):  # the names since NumPy 2 and before
    if hasattr(np, _name):
        _FUNCTIONS[getattr(np, _name)] = (arrays.trapezoid, arrays.trapezoid_over)
        _NUMBERS |= {getattr(np, _name)}
# Methods that equal the functions of the same names.
_METHODS = ("argmax", "argmin", "argsort", "cumprod", "cumsum", "repeat", "searchsorted", "trace")
# Methods that store to their array.
_STORING_METHODS = {"sort": order.sort_in_place}
# Functions whose lists of numbers are arrays.
_OF_ARRAYS: frozenset[Any] = frozenset((np.digitize, np.interp, np.isin, np.polyval, np.searchsorted))
# Functions for which `axis=None` means all elements, as a missing `axis` does.
_WITHOUT_AXIS = {np.argmax, np.argmin, np.cumprod, np.cumsum, np.median}
_ALONG_AXIS = {*_WITHOUT_AXIS, np.argsort, np.sort}
# Functions that NumPy also accepts tuples for, where the library accepts only numbers.
_OF_NUMBERS_ALONE: set[Any] = {np.roll}
# Functions whose first argument is a tuple of arrays.
_OF_TUPLES = {np.column_stack, np.concatenate, np.dstack, np.hstack, np.stack, np.vstack}


def functions() -> list[Any]:
    """The NumPy functions that the library implements."""
    return [*_FUNCTIONS, *_UPDATES]


def library_function(
    function: object, node: ast.Call, in_kernel: bool = False
) -> tuple[FunctionSource, ast.Call] | None:
    """The implementation for a call of a NumPy function, and the call with its arguments; None if nothing fits."""
    try:
        ours = _FUNCTIONS.get(function) if callable(function) else None
        ours = _IN_KERNELS.get(function, ours) if in_kernel else ours
    except TypeError:  # the function has no hash
        return None
    if any(each.arg == "out" for each in node.keywords):  # the frontend stores the results of other functions
        keywords = [each for each in node.keywords if each.arg != "out"]
        node = ast.copy_location(ast.Call(node.func, node.args, keywords), node)
    if function is np.einsum:
        return _einsum(node)
    if function in (np.sort, np.argsort):  # all algorithms have the results of the stable one of the library
        keywords = [each for each in node.keywords if each.arg != "kind" or not isinstance(each.value, ast.Constant)]
        node = ast.copy_location(ast.Call(node.func, node.args, keywords), node)
    if is_update(function):
        return _update(_UPDATES[function], node)
    if ours is None or (function in _OF_NUMBERS_ALONE and any(map(_is_tuple, _given(node)))):
        return None
    if function in _OF_ARRAYS:
        node = _with_arguments(node, [_as_array(each) for each in node.args])
    arguments = node.args
    if function in _OF_TUPLES and arguments:
        named = [ast.keyword("axis", each) for each in arguments[1:2]]
        node = ast.copy_location(ast.Call(node.func, arguments, [*named, *node.keywords]), node)
        parts = arguments[0]
        if isinstance(parts, ast.List | ast.Tuple):
            parts = ast.copy_location(ast.Tuple([_as_array(each) for each in parts.elts], parts.ctx), parts)
        arguments = [parts, *arguments[2:]]
    if function in _WITHOUT_AXIS and is_none(axis := _axis_of(node)):  # None means all elements
        arguments = [each for each in arguments if each is not axis]
        keywords = [each for each in node.keywords if each.value is not axis]
        node = ast.copy_location(ast.Call(node.func, arguments, keywords), node)
    elif function in (np.sort, np.argsort) and is_none(_axis_of(node)):
        return None  # NumPy flattens the array
    if function in _ALONG_AXIS and isinstance(axis := _axis_of(node), ast.Constant) and axis.value not in (0, 1):
        return None  # NumPy reports that there is no such axis
    if any(each.arg in _FLAGS and not _is_true(each.value) for each in node.keywords):
        return None
    for made in ours:
        each = made() if isinstance(made, partial) else made
        if _takes(each, len(arguments), node):
            return _source(each), _with_arguments(node, arguments)
    return None


def _axis_of(node: ast.Call) -> ast.expr | None:
    """The argument of a call for `axis`, the second parameter; None if it is missing."""
    named = (keyword.value for keyword in node.keywords if keyword.arg == "axis")
    return node.args[1] if len(node.args) > 1 else next(named, None)


def _given(node: ast.Call) -> list[ast.expr]:
    return [*node.args, *(each.value for each in node.keywords)]


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _is_tuple(node: ast.expr) -> bool:
    return isinstance(node, ast.Tuple)


def gives_array(function: object) -> bool:
    """Whether a function of the library always returns an array."""
    return callable(function) and any(function is each for each in _ARRAYS)


def gives_number(function: object) -> bool:
    """Whether a function of the library, in kernels, reduces all elements to a number without allocating memory."""
    return callable(function) and any(function is each for each in (*_NUMBERS, *_IN_KERNELS))


def for_loops() -> frozenset[Any]:
    """The functions of the library that NumPy itself runs outside of loops."""
    return _FOR_LOOPS


def is_for_loops(function: object) -> bool:
    """Whether the library implements a NumPy function only for calls in loops."""
    return callable(function) and any(function is each for each in _FOR_LOOPS)


def is_update(function: object) -> bool:
    """Whether the function is np.add.at or a similar method, which stores to its first argument."""
    return isinstance(function, BuiltinMethodType) and function in _UPDATES


def _update(name: str, node: ast.Call) -> tuple[FunctionSource, ast.Call] | None:
    """`np.add.at(a, (i, j), b)`"""
    if len(node.args) != 3 or node.keywords:
        return None
    array, subscripts, value = node.args
    parts = subscripts.elts if isinstance(subscripts, ast.Tuple) else [subscripts]
    others = ast.Slice | ast.Starred | ast.List | ast.Constant
    if not 1 <= len(parts) <= _MOST_SUBSCRIPTS or any(isinstance(each, others) for each in parts):
        return None
    return _source(at(name, len(parts))), _with_arguments(node, [array, *parts, value])


def _einsum(node: ast.Call) -> tuple[FunctionSource, ast.Call] | None:
    """`np.einsum("ij,jk->ik", a, b)`"""
    text = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
    subscripts = subscripts_of(text)
    if subscripts is None or len(subscripts.operands) != len(node.args) - 1:
        return None
    if len(subscripts.operands) == 1 and set(subscripts.operands[0]) == set(subscripts.result):
        return None  # NumPy's result is a view of the operand
    if any(keyword.arg != "optimize" for keyword in node.keywords):
        return None
    call = ast.copy_location(ast.Call(node.func, node.args[1:], []), node)
    return einsum(subscripts), call


def is_in_library(function: object) -> bool:
    """Whether the library implements this NumPy function for some arguments."""
    try:
        return callable(function) and (function in _FUNCTIONS or is_update(function))
    except TypeError:
        return False


class ListedArray(ast.List):
    """A list of numbers that is an argument where NumPy expects an array."""


def _as_array(argument: ast.expr) -> ast.expr:
    if not isinstance(argument, ast.List) or not argument.elts:
        return argument
    if any(isinstance(part, ast.Starred | ast.List | ast.Tuple) for part in argument.elts):
        return argument
    return ast.copy_location(ListedArray(argument.elts, argument.ctx), argument)


def library_method(
    name: str, owner: ast.expr, node: ast.Call, in_kernel: bool = False
) -> tuple[FunctionSource, ast.Call] | None:
    """The implementation for a call of an array method, and the call with its arguments; None if nothing fits."""
    if stores_method(name, node):
        return _source(_STORING_METHODS[name]), _with_arguments(node, [owner])
    if name == "item":
        return _item(owner, node)
    if name not in _METHODS:
        return None
    return library_function(getattr(np, name), _with_arguments(node, [owner, *node.args]), in_kernel)


def _item(owner: ast.expr, node: ast.Call) -> tuple[FunctionSource, ast.Call] | None:
    """`x.item(i, j)`"""
    given = node.args
    if len(given) == 1 and isinstance(given[0], ast.Tuple):
        given = given[0].elts
    if node.keywords or len(given) > _MOST_SUBSCRIPTS or any(isinstance(each, ast.Starred) for each in given):
        return None
    return _source(item(len(given))), _with_arguments(node, [owner, *given])


def stores_method(name: str, node: ast.Call) -> bool:
    """Whether the library implements this call as an array method that stores to its array."""
    return name in _STORING_METHODS and not node.args and not node.keywords


def _takes(function: Callable[..., Any], count: int, node: ast.Call) -> bool:
    names = {keyword.arg: None for keyword in node.keywords if keyword.arg is not None}
    try:
        bound = inspect.signature(function).bind(*[None] * count, **names)
    except TypeError:
        return False
    return len(names) == len(node.keywords) and not _FLAGS & bound.arguments.keys() - names.keys()


def _with_arguments(node: ast.Call, arguments: list[ast.expr]) -> ast.Call:
    return ast.copy_location(ast.Call(node.func, arguments, node.keywords), node)


@functools.cache
def _source(function: Callable[..., Any]) -> FunctionSource:
    return callable_source(function) or capture(function)
