"""The names of numba.core.errors, for ``except`` clauses; each is one of ParPy's own exceptions."""

from ..calls.errors import BackendError, CompileError
from ..calls.performance import PerformanceWarning as NumbaPerformanceWarning

__all__ = [
    "CudaAPIError", "CudaSupportError", "LinkerError", "LoweringError", "NumbaError", "NumbaPerformanceWarning",
    "NvvmError", "TypingError", "UnsupportedError",
]  # fmt: skip

NumbaError = TypingError = UnsupportedError = LoweringError = CompileError
CudaAPIError = CudaSupportError = LinkerError = NvvmError = BackendError
