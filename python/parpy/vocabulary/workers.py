"""The vocabulary of APPy's abstract machine, in which workers execute vector instructions, as plain Python objects.

The frontend recognises them by identity. In Python a range is a range, and a vector of subscripts is a slice.
"""

from __future__ import annotations

import builtins
from typing import Any, SupportsIndex

import numpy as np

MVL = 128
"""The maximum vector length: the number of elements in a vector instruction of a worker."""

mv = np.matmul
"""`mv(A, x)`: the product of a matrix and a vector."""


def vidx(start: SupportsIndex, stepsize: SupportsIndex, bound: SupportsIndex | None = None) -> slice:
    """Returns the slice of one vector of subscripts: `stepsize` of them from `start` on, only those below `bound`."""
    begin, step = int(start), int(stepsize)
    return slice(begin, begin + step if bound is None else min(int(bound), begin + step))


def prange(*bounds: SupportsIndex) -> builtins.range:
    """Returns the range of a loop with one worker for each iteration, as with `#pragma parallel for`."""
    return builtins.range(*bounds)


def range(*bounds: SupportsIndex, parallel: bool = False, simd: bool = False) -> builtins.range:
    """Returns the range of a loop. `parallel=True` means `#pragma parallel for`, and `simd=True` `#pragma simd`."""
    return builtins.range(*bounds)


_RANGES = (builtins.range, prange, range)


def is_range(found: Any) -> bool:
    """Whether a loop over a call of `found` is a loop over a range."""
    return any(found is each for each in _RANGES)
