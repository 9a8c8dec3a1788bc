"""Kernels and device arrays: ``parpy.cuda``, with a ``jit`` that also has NumbaPro's ``argtypes`` and ``restype``."""

from typing import Any

from .. import cuda as _cuda
from ..cuda import *  # noqa: F403
from ._jit import cuda_jit

jit: Any = cuda_jit  # type: ignore[no-redef]

__all__ = [*(name for name in _cuda.__all__ if name != "jit"), "jit"]
