"""The names of numba.core.errors, for ``except`` clauses; each is one of ParPy's own exceptions."""

from ..calls.errors import BackendError, CompileError
from ..calls.performance import PerformanceWarning as NumbaPerformanceWarning

__all__ = [
    "ConstantInferenceError", "CudaAPIError", "CudaSupportError", "LinkerError", "LoweringError",
    "NumbaDebugInfoWarning", "NumbaDeprecationWarning", "NumbaError", "NumbaInvalidConfigWarning",
    "NumbaPerformanceWarning", "NumbaTypeError", "NumbaValueError", "NumbaWarning", "NvvmError", "TypingError",
    "UnsupportedError",
]  # fmt: skip

NumbaError = TypingError = UnsupportedError = LoweringError = ConstantInferenceError = CompileError
NumbaTypeError = NumbaValueError = CompileError
NumbaWarning = NumbaDebugInfoWarning = NumbaDeprecationWarning = NumbaInvalidConfigWarning = NumbaPerformanceWarning
CudaAPIError = CudaSupportError = LinkerError = NvvmError = BackendError
