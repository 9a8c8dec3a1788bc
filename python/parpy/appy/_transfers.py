"""Arrays to a GPU and back, of whatever library they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import buffer
from ..backend import is_enabled
from ..calls.options import CompileBackend

__all__ = ["to_cpu", "to_gpu"]


def to_gpu(x: Any) -> Any:
    """The array in the memory of the GPU: a PyTorch tensor becomes one there, any other array a
    ``parpy.buffer.Buffer``. Without a GPU it is the array itself."""
    if not is_enabled(CompileBackend.Cuda):
        return x
    if _is_of("torch", x):
        return x.to("cuda")
    return x if hasattr(x, "__cuda_array_interface__") else buffer.from_array(np.asarray(x), CompileBackend.Cuda)


def to_cpu(x: Any) -> Any:
    """The array in the memory of the host: a PyTorch tensor becomes one there, any other array NumPy's; a number
    stays one."""
    if _is_of("torch", x):
        return x.to("cpu")
    if _is_of("cupy", x):
        return x.get()
    return x.numpy() if isinstance(x, buffer.Buffer) else x


def _is_of(library: str, x: Any) -> bool:
    return type(x).__module__.partition(".")[0] == library
