"""Dates and durations as arguments of kernels, which receive NumPy's integers for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._arrays import DeviceNDArray

_NOT_A_TIME = np.iinfo(np.int64).min


def is_date(value: Any) -> bool:
    """Whether the value is a datetime64 or timedelta64, or an array of them, from NumPy or on the device."""
    return isinstance(value, np.ndarray | np.datetime64 | np.timedelta64 | DeviceNDArray) and value.dtype.kind in "mM"


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
