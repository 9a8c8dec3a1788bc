"""Kernels and device arrays: ``parpy.cuda``, whose ``jit`` takes NumbaPro's ``argtypes`` and ``restype`` as well."""

from typing import Any

from .. import cuda as _cuda
from ..cuda import *  # noqa: F403
from ._jit import cuda_jit

jit: Any = cuda_jit  # type: ignore[no-redef]

__all__ = [*(name for name in _cuda.__all__ if name != "jit"), "jit"]
