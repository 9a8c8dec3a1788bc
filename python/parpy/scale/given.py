"""Arrays of other libraries, and buffers, as arguments of calls that several parts share."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _native
from ..arrays.device_arrays import DeviceArray, described_by, device_of, host_copy, store
from .partitioned import Partitioned, rows

_Array = np.ndarray[Any, Any]


class GivenArray:
    """An array in the memory of one GPU, which another library or a buffer owns. NumPy must not read the elements of
    ``view``, which has its address, shape and strides."""

    def __init__(self, view: _Array) -> None:
        self.view = view

    shape = property(lambda self: self.view.shape)
    strides = property(lambda self: self.view.strides)
    dtype = property(lambda self: self.view.dtype)
    writeable = property(lambda self: self.view.flags.writeable)

    @property
    def stand_in(self) -> _Array:
        """A NumPy array of this shape and type with arbitrary elements, read-only if the array is."""
        made = np.empty(self.shape, self.dtype)
        made.flags.writeable = self.writeable
        return made

    def rows(self, axis: int, first: int, last: int, stream: int = 0) -> _Array:
        """A copy of some rows on the host, made after the work on ``stream``."""
        copy: _Array = host_copy(rows(self.view, axis, first, last), stream)
        return copy

    def set_rows(self, axis: int, first: int, last: int, host: _Array, stream: int = 0) -> None:
        """Copies host elements to some rows, after the work on ``stream``."""
        store(rows(self.view, axis, first, last), host, stream)
        _native.synchronize_stream(stream, device_of(self.view))

    def settle(self) -> None:
        """Waits until stores to the array have ended: other libraries may use other streams."""
        if self.view.size:
            _native.synchronize_stream(0, device_of(self.view))


def given(value: Any) -> Any:
    """The array behind an argument: a NumPy array that shares its memory, or a `GivenArray` if it is on a GPU. Numbers,
    partitioned arrays and values that are no arrays are returned as they are."""
    if isinstance(value, np.ndarray | Partitioned | np.generic | bool | int | float | complex):
        return value
    if isinstance(value, DeviceArray):
        return GivenArray(value._view) if value.on_gpu else value._view
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        view = described_by(interface, value)
        stream = interface.get("stream")
        if view.size and stream not in (None, 0, 1):
            _native.synchronize_stream(stream, device_of(view))
        return GivenArray(view)
    if hasattr(value, "__dlpack__") and value.__dlpack_device__()[0] == 1:
        return np.from_dlpack(value)
    return value
