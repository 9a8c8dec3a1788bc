"""The exceptions for a GPU, its driver and its compilers: parpy.BackendError under Numba's names."""

from ...calls.errors import BackendError

CudaSupportError = CudaDriverError = CudaRuntimeError = NvvmError = NvvmSupportError = BackendError
NvrtcError = NvrtcCompilationError = NvrtcSupportError = BackendError

__all__ = [
    "CudaDriverError", "CudaRuntimeError", "CudaSupportError", "NvrtcCompilationError", "NvrtcError",
    "NvrtcSupportError", "NvvmError", "NvvmSupportError",
]  # fmt: skip
