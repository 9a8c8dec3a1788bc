"""Arrays in blocks on several GPUs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .. import _native
from ..arrays.device_arrays import DeviceArray, described, fetch, store
from ..buffer import Buffer
from ..calls.options import CompileBackend
from ..types import elem_size
from ..vocabulary.sizes import ElemSize
from .given import GivenArray, given
from .partitioned import Partitioned, blocks_of, rows

_Array = np.ndarray[Any, Any]


class GpuArray:
    """An array in C order on one of the GPUs that share it. It has addresses for all rows, and memory for the covered
    rows; if the axis is not the first one, it has memory for all rows."""

    def __init__(
        self, shape: tuple[int, ...], dtype: np.dtype[Any], axis: int, device: int, peers: Sequence[int]
    ) -> None:
        self._row = int(np.prod(shape[1:], dtype=np.int64)) * dtype.itemsize
        self._memory = _native.PartMemory(self._row * shape[0], device, list(peers))
        self._axis = axis
        self.view: _Array = described(self._memory.pointer, shape, dtype, None, self._memory)
        if axis != 0:
            self._memory.cover(0, self._row * shape[0])

    @property
    def pointer(self) -> int:
        return self._memory.pointer

    def cover(self, first: int, last: int) -> None:
        """Allocates memory for these rows; rows that have memory keep their elements."""
        if self._axis == 0 and first < last:
            self._memory.cover(first * self._row, last * self._row)

    def rows(self, first: int, last: int) -> _Array:
        return rows(self.view, self._axis, first, last)

    def upload(self, first: int, last: int, whole: _Array | GivenArray) -> None:
        """Copies rows of a whole array to these rows."""
        if first < last:
            self.cover(first, last)
            if isinstance(whole, GivenArray):
                store(self.rows(first, last), DeviceArray(rows(whole.view, self._axis, first, last), True))
            else:
                store(self.rows(first, last), rows(whole, self._axis, first, last))

    def give(self, first: int, last: int, whole: GivenArray) -> None:
        """Copies these rows to a whole array on a GPU."""
        if first < last:
            store(rows(whole.view, self._axis, first, last), DeviceArray(self.rows(first, last), True))

    def download(self, first: int, last: int, host: _Array) -> None:
        if first < last:
            fetch(rows(host, self._axis, first, last), self.rows(first, last))


class GpuBlocks(Partitioned):
    """An array whose blocks are in the memory of GPUs. ``shards`` are buffers, which CuPy and PyTorch read in place,
    and ``devices`` are the numbers of the GPUs."""

    def __init__(
        self, shape: tuple[int, ...], dtype: np.dtype[Any], axis: int, cuts: tuple[int, ...], devices: tuple[int, ...]
    ) -> None:
        kind = elem_size(dtype)
        if not isinstance(kind, ElemSize):
            raise TypeError(f"elements of type {dtype} cannot be in a buffer")
        self.arrays = [GpuArray(shape, dtype, axis, device, devices) for device in devices]
        self.devices, self._kind = devices, kind
        self._whole = self._given_out = False
        super().__init__([each.view for each in self.arrays], axis, cuts)
        for array, (first, last) in zip(self.arrays, self._spans(), strict=True):
            array.cover(first, last)

    def _spans(self) -> list[tuple[int, int]]:
        return list(zip(self.cuts, self.cuts[1:], strict=False))

    @property
    def whole(self) -> bool:
        """Whether every device has the present elements of all rows, so that calls that need them copy none. False from
        the first use of ``shards``, through which they may change at any time."""
        return self._whole

    @whole.setter
    def whole(self, value: bool) -> None:
        self._whole = value and not self._given_out

    @property
    def shards(self) -> tuple[Any, ...]:
        self._given_out, self._whole = True, False
        pairs = zip(self.arrays, self._spans(), strict=True)
        return tuple(Buffer(array.rows(*span), self._kind, CompileBackend.Cuda) for array, span in pairs)

    @property
    def stand_in(self) -> _Array:
        return np.empty(self.shape, self.dtype)

    def numpy(self) -> _Array:
        host = np.empty(self.shape, self.dtype)
        for array, span in zip(self.arrays, self._spans(), strict=True):
            array.download(*span, host)
        return host

    def copy_from(self, source: Any) -> None:
        whole = given(source)
        if not isinstance(whole, GivenArray):
            whole = np.asarray(whole)
        if whole.shape != self.shape:
            raise ValueError(f"an array of shape {whole.shape} cannot be stored to one of shape {self.shape}")
        self._whole = False
        for array, span in zip(self.arrays, self._spans(), strict=True):
            array.upload(*span, whole)


def split_on_gpus(array: Any, devices: Iterable[int], axis: int = 0) -> GpuBlocks:
    """Copies an array to blocks on these GPUs."""
    numbers = tuple(devices)
    whole = given(array)
    like = np.broadcast_to(np.empty((), whole.dtype), whole.shape) if isinstance(whole, GivenArray) else whole
    like, along, cuts = blocks_of(like, numbers, axis)
    made = GpuBlocks(like.shape, like.dtype, along, cuts, numbers)
    made.copy_from(whole if isinstance(whole, GivenArray) else like)
    return made
