"""The words of APPy's machine, a processor with workers whose instructions have vectors, as plain Python sees them.

The frontend recognises them by identity. In Python a range is a range, and a vector of subscripts is a slice.
"""

from __future__ import annotations

import builtins
from typing import Any, SupportsIndex

import numpy as np

MVL = 128
"""The maximum vector length: how many elements one vector instruction of a worker takes."""

mv = np.matmul
"""`mv(A, x)`: the product of a matrix and a vector."""


def vidx(start: SupportsIndex, stepsize: SupportsIndex, bound: SupportsIndex | None = None) -> slice:
    """The subscripts of one vector: from `start` on, `stepsize` of them, those below `bound` alone if it is given."""
    begin, step = int(start), int(stepsize)
    return slice(begin, begin + step if bound is None else min(int(bound), begin + step))


def prange(*bounds: SupportsIndex) -> builtins.range:
    """The range of a loop with one worker for each iteration, as `#pragma parallel for` has it."""
    return builtins.range(*bounds)


def range(*bounds: SupportsIndex, parallel: bool = False, simd: bool = False) -> builtins.range:
    """The range of a loop. `parallel=True` is `#pragma parallel for`, `simd=True` is `#pragma simd`."""
    return builtins.range(*bounds)


_RANGES = (builtins.range, prange, range)


def is_range(found: Any) -> bool:
    """Whether a loop over what `found` gives is a loop over a range."""
    return any(found is each for each in _RANGES)
