"""The exceptions for a GPU, its driver and its compilers: parpy.BackendError under Numba's names."""

from ...calls.errors import BackendError

CudaSupportError = CudaDriverError = CudaRuntimeError = NvvmError = NvvmSupportError = NvrtcError = BackendError

__all__ = ["CudaDriverError", "CudaRuntimeError", "CudaSupportError", "NvrtcError", "NvvmError", "NvvmSupportError"]
