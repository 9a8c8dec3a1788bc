"""Dates and durations as arguments of kernels, which receive NumPy's integers for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...syntax.source import FunctionSource
from ...vocabulary.signatures import Array, Scalar
from .._arrays import DeviceNDArray

_NOT_A_TIME = np.iinfo(np.int64).min


def is_date(value: Any) -> bool:
    """Whether the value is a datetime64 or timedelta64, or an array of them, from NumPy or on the device."""
    return isinstance(value, np.ndarray | np.datetime64 | np.timedelta64 | DeviceNDArray) and value.dtype.kind in "mM"


def kinds_of(arguments: Sequence[Any]) -> tuple[Any, ...]:
    """The types of dates and durations among the arguments, and of arrays of them; None for all others."""
    return tuple(
        None if not is_date(each) else _of_elements(each.dtype, each.ndim) if each.ndim else each.dtype
        for each in arguments
    )


def _of_elements(dtype: np.dtype[Any], ndim: int) -> Any:
    from ...dates.rewriting import Elements

    return Elements(dtype, ndim)


def kind_of_type(kind: Any) -> Any:
    """As ``kinds_of``, for a type in a signature."""
    element = kind.element if isinstance(kind, Array) else kind
    if not isinstance(element, Scalar) or not element.is_date:
        return None
    return _of_elements(element.dtype, kind.ndim) if isinstance(kind, Array) else element.dtype


def of_integers(source: FunctionSource, kinds: Sequence[Any]) -> FunctionSource | None:
    """The kernel of integers for parameters of these types; None if it does more with dates than NumPy's operations.
    Raises TypeError for an operation that NumPy does not have for these types."""
    from ...dates.operations import NoOperationError
    from ...dates.rewriting import in_integers

    try:
        return in_integers(source, kinds).source
    except NoOperationError:
        raise
    except TypeError:
        return None


def viewed(arguments: Sequence[Any]) -> list[Any]:
    """The arguments, with NumPy's integers in place of dates and durations; arrays of them share the memory."""
    return [each.view(np.int64) if is_date(each) else each for each in arguments]


def as_integers(arguments: Sequence[Any]) -> list[Any]:
    """The arguments, with integers in place of dates and durations; arrays of them share the memory. Raises TypeError
    if they have several units, or if one is NaT, which no integer represents."""
    units = {str(each.dtype).partition("[")[2] for each in filter(is_date, arguments)} - {""}
    if len(units) > 1:
        shown = ", ".join(sorted(f"'{each.rstrip(']')}'" for each in units))
        raise TypeError(f"the dates and durations of a launch have one unit, not {shown}; convert them with astype")
    taken = []
    for place, each in enumerate(arguments):
        if is_date(each):
            each = each.view(np.int64)
            if np.any(np.asarray(each) == _NOT_A_TIME):
                raise TypeError(f"argument {place + 1} contains NaT, which compiled code does not support; remove it")
        taken.append(each)
    return taken
