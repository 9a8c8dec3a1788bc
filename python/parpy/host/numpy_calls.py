"""Functions of NumPy and SciPy without a lowering, which Python calls between compiled parts."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeGuard

import numpy as np

from ..calls.external import External
from ..frontend.calls.intrinsics import intrinsic_of
from ..library import library_function
from ..syntax.names import callable_source
from ..syntax.patterns import is_literal
from ..syntax.walks import walk
from ..vocabulary import operators
from .foreign_calls import has_open_keyword

METHODS = frozenset((
    "argpartition", "byteswap", "choose", "compress", "diagonal", "nonzero", "partition", "put", "resize", "sort",
    "squeeze", "swapaxes", "take", "tobytes", "tolist", "view",
))  # fmt: skip
"""The methods of arrays that compiled code does not support."""


def is_array_function(value: object) -> TypeGuard[Callable[..., Any]]:
    """Whether the value is a function of NumPy or SciPy, or a method of a ufunc such as np.add.at, but no type and no
    method of a random generator."""
    if not callable(value) or isinstance(value, type | External):
        return False
    if callable_source(value) is not None:
        return isinstance(value, np.ufunc)
    if isinstance(getattr(value, "__self__", None), np.ufunc):
        return True
    module = getattr(value, "__module__", None)
    if not isinstance(module, str) or module.partition(".")[0] not in ("numpy", "scipy"):
        return isinstance(value, np.ufunc)
    return not module.startswith("numpy.random")


def is_left_to_numpy(value: object, node: ast.Call) -> bool:
    """Whether compiled code does not support the function, or not with such arguments."""
    if value is np.array:
        return not _is_array_of_values(node)
    if value is np.where and len(node.args) == 1:
        return True
    if any(value is each for each in (np.shape, np.ndim, np.size, np.expand_dims)) and (
        isinstance(node.args[0], ast.List | ast.Tuple) or not all(map(is_literal, _axes(node)))
    ):
        return True
    if (value is np.quantile or value is np.percentile) and any(
        isinstance(each, ast.List | ast.Tuple) for each in node.args[1:]
    ):
        return True
    if is_array_function(value) and has_open_keyword(node):
        return True
    return (
        is_array_function(value)
        and operators.scalar_name(value) is None
        and intrinsic_of(value) is None
        and library_function(value, node) is None
    )


def _axes(node: ast.Call) -> list[ast.expr]:
    return [*node.args[1:], *(each.value for each in node.keywords)]


def _is_array_of_values(node: ast.Call) -> bool:
    """Whether the call makes an array of a display of numbers and arrays, or of one variable."""
    if not 1 <= len(node.args) <= 2 or not {keyword.arg for keyword in node.keywords} <= {"dtype"}:
        return False
    others = ast.comprehension | ast.Starred | ast.Dict | ast.Set
    return not any(isinstance(part, others) for part in walk(node.args[0])) and _is_of_numbers(node.args[0])


def _is_of_numbers(node: ast.expr) -> bool:
    """Whether a display, and no display in it, is empty or contains a text or None."""
    if isinstance(node, ast.List | ast.Tuple):
        return bool(node.elts) and all(map(_is_of_numbers, node.elts))
    return not isinstance(node, ast.Constant) or isinstance(node.value, int | float | complex)


def dry(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that calls `function` to determine the kind of its result while its arguments have no values yet. It
    works on copies of arrays, and repeats a failed call with regular values."""

    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*map(_copy, arguments), **{name: _copy(each) for name, each in named.items()})
        except Exception:
            return function(*map(_regular, arguments), **{name: _regular(each) for name, each in named.items()})

    return call


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def _regular(value: Any) -> Any:
    """An array of ones, with unit matrices in the last two dimensions; other values are unchanged."""
    if not isinstance(value, np.ndarray):
        return value
    made = np.ones_like(value)
    if value.ndim > 1:
        made[...] = np.eye(*value.shape[-2:], dtype=np.bool_)
    return made
