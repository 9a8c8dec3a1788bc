"""Copies arrays of any library to a GPU and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import buffer
from ..backend import is_enabled
from ..calls.options import CompileBackend

__all__ = ["to_cpu", "to_gpu"]


def to_gpu(x: Any) -> Any:
    """Returns the array in GPU memory: a tensor for a PyTorch tensor, a ``parpy.buffer.Buffer`` for any other
    array. Without a GPU it returns the array itself."""
    if not is_enabled(CompileBackend.Cuda):
        return x
    if _is_of("torch", x):
        return x.to("cuda")
    return x if hasattr(x, "__cuda_array_interface__") else buffer.from_array(np.asarray(x), CompileBackend.Cuda)


def to_cpu(x: Any) -> Any:
    """Returns the array in host memory: a tensor for a PyTorch tensor, a NumPy array for any other array; numbers
    are returned unchanged."""
    if _is_of("torch", x):
        return x.to("cpu")
    if _is_of("cupy", x):
        return x.get()
    return x.numpy() if isinstance(x, buffer.Buffer) else x


def _is_of(library: str, x: Any) -> bool:
    return type(x).__module__.partition(".")[0] == library
