"""Names of numba.cuda that have no effect here, and names of features that ParPy does not have.

What cleans up, profiles or opens handles does what it can; the rest raises NotImplementedError with the nearest thing
that works.
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
    "IpcHandle", "LinkerError", "defer_cleanup", "open_ipc_array", "profile_start", "profile_stop",
    "profiling", "set_memory_manager",
]  # fmt: skip

CudaAPIError = CudaSupportError = LinkerError = BackendError
"""What goes wrong with a GPU, its driver or its compilers is a parpy.BackendError."""


@contextlib.contextmanager
def defer_cleanup() -> Iterator[None]:
    """For compatibility: memory goes back to the driver's pool in the order of its stream, and never waits."""
    yield


def profile_start() -> None:
    """Lets a profiler such as Nsight record from here on; nothing on the simulator."""
    if on_gpu():
        profiler(True)


def profile_stop() -> None:
    """Ends what ``profile_start`` begins."""
    if on_gpu():
        profiler(False)


@contextlib.contextmanager
def profiling() -> Iterator[None]:
    """``with cuda.profiling():`` lets a profiler record the block."""
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
    """There is no sharing of memory between processes: NotImplementedError."""
    raise NotImplementedError(_NO_IPC)


class IpcHandle:
    """The same."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise NotImplementedError(_NO_IPC)


class BaseCUDAMemoryManager:
    """Memory has no managers that one could put in: NotImplementedError."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise NotImplementedError(_NO_MANAGERS)


class HostOnlyCUDAMemoryManager(BaseCUDAMemoryManager):
    """The same."""


class GetIpcHandleMixin:
    """The same, of handles."""

    def get_ipc_handle(self, *_: Any) -> NoReturn:
        """NotImplementedError."""
        raise NotImplementedError(_NO_IPC)


def set_memory_manager(manager: Any) -> NoReturn:
    """The same."""
    raise NotImplementedError(_NO_MANAGERS)
