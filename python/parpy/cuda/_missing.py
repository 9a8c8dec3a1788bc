"""Names of numba.cuda that have no effect here, and names of features that ParPy does not have.

The functions for profiling and for deferred cleanup work. All others raise NotImplementedError, whose message names an
alternative.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NoReturn

from ..calls.errors import BackendError
from ._backend import on_gpu
from ._driver import profiler

__all__ = [
    "BaseCUDAMemoryManager", "CudaAPIError", "CudaSupportError", "GetIpcHandleMixin", "HostOnlyCUDAMemoryManager",
    "IpcHandle", "LinkerError", "MappedMemory", "MemoryPointer", "PinnedMemory", "defer_cleanup", "open_ipc_array",
    "profile_start", "profile_stop", "profiling", "set_memory_manager",
]  # fmt: skip

CudaAPIError = CudaSupportError = LinkerError = BackendError
"""Errors of a GPU, its driver or its compilers are raised as parpy.BackendError."""


@contextlib.contextmanager
def defer_cleanup() -> Iterator[None]:
    """Has no effect; it exists for compatibility. Freed memory returns to the driver's pool without waiting."""
    yield


def profile_start() -> None:
    """Starts the recording of a profiler such as Nsight. It has no effect on the simulator."""
    if on_gpu():
        profiler(True)


def profile_stop() -> None:
    """Ends the recording that ``profile_start`` started."""
    if on_gpu():
        profiler(False)


@contextlib.contextmanager
def profiling() -> Iterator[None]:
    """``with cuda.profiling():`` limits the recording of a profiler to the block."""
    profile_start()
    try:
        yield
    finally:
        profile_stop()


_NO_IPC = (
    "memory is not shared with other processes (CUDA's IPC); pass arrays by copy_to_host, or share another library's "
    "array, which cuda.as_cuda_array takes"
)
_NO_MANAGERS = (
    "memory comes from the driver's pool; arrays of other allocators (CuPy, PyTorch, RMM) are arguments as they are"
)


def open_ipc_array(handle: Any, shape: Any, dtype: Any, strides: Any = None, offset: int = 0) -> NoReturn:
    """Raises NotImplementedError: ParPy shares no GPU memory between processes."""
    raise NotImplementedError(_NO_IPC)


class IpcHandle:
    """Raises NotImplementedError: ParPy shares no GPU memory between processes."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise NotImplementedError(_NO_IPC)


class BaseCUDAMemoryManager:
    """Raises NotImplementedError: the memory manager of ParPy cannot be replaced."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise NotImplementedError(_NO_MANAGERS)


class HostOnlyCUDAMemoryManager(BaseCUDAMemoryManager):
    """Raises NotImplementedError: the memory manager of ParPy cannot be replaced."""


class MemoryPointer:
    """Raises NotImplementedError: arrays own their memory, and other allocators are not called."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise NotImplementedError(_NO_MANAGERS)


class MappedMemory(MemoryPointer):
    """Raises NotImplementedError; ``mapped_array`` makes an array in mapped memory."""


class PinnedMemory(MemoryPointer):
    """Raises NotImplementedError; ``pinned_array`` makes an array in pinned memory."""


class GetIpcHandleMixin:
    """Has the method of Numba's mixin, which raises NotImplementedError."""

    def get_ipc_handle(self, *_: Any) -> NoReturn:
        """Raises NotImplementedError: ParPy shares no GPU memory between processes."""
        raise NotImplementedError(_NO_IPC)


def set_memory_manager(manager: Any) -> NoReturn:
    """Raises NotImplementedError: the memory manager of ParPy cannot be replaced."""
    raise NotImplementedError(_NO_MANAGERS)
