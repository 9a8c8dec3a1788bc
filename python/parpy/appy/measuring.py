"""``appy.utils``: comparison and timing."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..calls.jit import sync
from ._transfers import to_cpu

__all__ = ["allclose", "bench"]


def allclose(
    a: Any, b: Any, verbose: bool = True, rtol: float = 1e-5, atol: float = 1e-6, equal_nan: bool = True
) -> bool:
    """Whether two arrays of any library agree; if not, ``verbose`` prints the largest difference."""
    left, right = np.asarray(to_cpu(a)), np.asarray(to_cpu(b))
    alike = left.shape == right.shape and bool(np.allclose(left, right, rtol=rtol, atol=atol, equal_nan=equal_nan))
    if verbose and not alike:
        same = left.shape == right.shape and left.size > 0
        print("largest difference:", np.max(np.abs(left - right)) if same else f"shapes {left.shape} and {right.shape}")
    return alike


def bench(function: Callable[[], Any], repeats: int = 10) -> float:
    """The median time of ``repeats`` calls in milliseconds, after one warm-up call; waits for the GPU."""
    times = []
    for _ in range(repeats + 1):
        sync()
        start = time.perf_counter()
        function()
        sync()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times[1:])
