"""Dates and durations as arguments of kernels: the integers that NumPy keeps of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._arrays import DeviceNDArray

_NOT_A_TIME = np.iinfo(np.int64).min


def is_date(value: Any) -> bool:
    """Whether it is a datetime64 or timedelta64, or an array of such, of NumPy or on the device."""
    return isinstance(value, np.ndarray | np.datetime64 | np.timedelta64 | DeviceNDArray) and value.dtype.kind in "mM"


def as_integers(arguments: Sequence[Any]) -> list[Any]:
    """The arguments with the integers of dates and durations, of which arrays share the memory. Raises TypeError where
    these have several units, or one is NaT, which an integer is not."""
    units = {str(each.dtype).partition("[")[2] for each in filter(is_date, arguments)} - {""}
    if len(units) > 1:
        shown = ", ".join(sorted(f"'{each.rstrip(']')}'" for each in units))
        raise TypeError(f"the dates and durations of a launch have one unit, not {shown}; convert them with astype")
    taken = []
    for place, each in enumerate(arguments):
        if is_date(each):
            each = each.view(np.int64)
            if np.any(np.asarray(each) == _NOT_A_TIME):
                raise TypeError(f"argument {place + 1} has NaT, which compiled code does not know; leave it out")
        taken.append(each)
    return taken
