"""Allocators of other libraries as the source of GPU memory."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

Allocate = Callable[[int, int], Any]


class _Stream:
    """A CUDA stream of another library's protocol."""

    def __init__(self, address: int) -> None:
        self._address = address

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._address


def _of_cupy() -> Allocate:
    cupy = importlib.import_module("cupy")

    def allocate(size: int, stream: int) -> Any:
        with cupy.cuda.ExternalStream(stream):
            return cupy.cuda.alloc(size)

    return allocate


def _of_rmm() -> Allocate:
    rmm = importlib.import_module("rmm")
    stream_of = importlib.import_module("rmm.pylibrmm.stream").Stream

    def allocate(size: int, stream: int) -> Any:
        return rmm.DeviceBuffer(size=size, stream=stream_of(_Stream(stream)))

    return allocate


_LIBRARIES = {"cupy": _of_cupy, "rmm": _of_rmm}


def allocate_of(allocator: str | Allocate) -> Allocate:
    """The function that allocates memory of a library, or the function itself."""
    if callable(allocator):
        return allocator
    if allocator in _LIBRARIES:
        return _LIBRARIES[allocator]()
    names = ", ".join(f"{name!r}" for name in _LIBRARIES)
    raise ValueError(
        f"{allocator!r} is no allocator; allowed are {names}, None for ParPy's own pool, or a function of a number of "
        "bytes and the address of a stream"
    )
