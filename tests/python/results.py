"""Comparisons of the results of compiled functions with Python's."""

from __future__ import annotations

from typing import Any

import numpy as np


def same(got: Any, want: Any) -> bool:
    """Equal values, NaN among them, in lists, tuples and dicts of one structure; arrays of one type and shape. NumPy's
    arrays without dimensions are numbers in compiled code."""
    if isinstance(want, dict):
        return isinstance(got, dict) and list(got) == list(want) and all(same(got[key], want[key]) for key in want)
    if isinstance(want, list | tuple):
        return type(got) is type(want) and len(got) == len(want) and all(map(same, got, want))
    if want is None or got is None or isinstance(want, type | str):
        return got is want or (isinstance(want, str) and got == want)
    if isinstance(want, np.ndarray) and want.ndim > 0 and not (isinstance(got, np.ndarray) and got.dtype == want.dtype):
        return False
    has_nan = np.asarray(want).dtype.kind in "fc"
    return np.shape(got) == np.shape(want) and bool(np.array_equal(got, want, equal_nan=has_nan))
