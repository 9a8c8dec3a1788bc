"""The names that numba.core.errors has for what goes wrong, for ``except`` clauses: ParPy's own exceptions."""

from ..calls.errors import BackendError, CompileError
from ..calls.performance import PerformanceWarning as NumbaPerformanceWarning

__all__ = [
    "CudaAPIError", "CudaSupportError", "LinkerError", "LoweringError", "NumbaError", "NumbaPerformanceWarning",
    "NvvmError", "TypingError", "UnsupportedError",
]  # fmt: skip

NumbaError = TypingError = UnsupportedError = LoweringError = CompileError
CudaAPIError = CudaSupportError = LinkerError = NvvmError = BackendError
