"""Multiplies the elements of an array on the GPU by a number."""

from __future__ import annotations

from typing import Any

from ..arrays.libraries import reshaped, shape_of
from ..calls.jit import jit
from ..calls.options import CompileBackend, auto


@jit
def _scaled(x, factor):  # type: ignore[no-untyped-def]
    for i in range(x.shape[0]):
        x[i] = x[i] * factor


def scale(array: Any, factor: float, stream: int) -> None:
    """Multiplies the elements of a contiguous array in place."""
    count = 1
    for each in shape_of(array):
        count *= each
    _scaled(reshaped(array, (count,)), factor, opts=auto(backend=CompileBackend.Cuda, stream=stream))
