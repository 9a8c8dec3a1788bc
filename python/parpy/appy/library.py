"""The functions of APPy that NumPy lacks, for numbers and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..syntax.source import capture


def _compiled(function: Any) -> Any:
    """The function with its source, which lets compiled code call it."""
    function.__parpy_source__ = capture(function)
    return function


@_compiled
def rsqrt(x: Any) -> Any:
    return 1.0 / np.sqrt(x)


@_compiled
def cdiv(a: Any, b: Any) -> Any:
    return (a + b - 1) // b


@_compiled
def atomic_add(a: Any, offset: Any, b: Any) -> None:
    a[offset] += b


@_compiled
def debug_barrier() -> None:
    pass


rsqrt.__doc__ = "1 / sqrt(x)."
cdiv.__doc__ = "a / b, rounded up: the number of blocks of b elements that hold a elements."
atomic_add.__doc__ = "Adds `b` to an element atomically, also if several workers do so."
debug_barrier.__doc__ = "Does nothing: within a worker the compiler keeps the order."
