"""Fields of packed records on a GPU, which reads a number only where its address is a multiple of its size.

Those that lie elsewhere are copied, byte by byte, to arrays of their own in front of a launch, and back behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from .. import _device
from ._arrays import DeviceNDArray, device_array, view_at
from ._kernel import Kernel, jit
from ._kinds import Fields
from ._streams import Stream

cuda: Any = _device
_kernel: Callable[[Callable[..., Any]], Kernel] = jit
_THREADS = 256


@_kernel
def _copy_bytes(to: Any, of: Any) -> None:
    i = cuda.grid(1)
    if i < of.shape[0]:
        for j in range(of.shape[1]):
            to[i, j] = of[i, j]


class AlignedFields(Fields):
    """Fields of records by key, each where a GPU can read and write it until `store` takes them back."""

    def __init__(self, records: DeviceNDArray, keys: list[str], stream: Stream) -> None:
        super().__init__(records, keys)
        self._stream = stream
        self._moved: list[tuple[DeviceNDArray, DeviceNDArray]] = []  # to, of
        for key, part in [*self.items()]:
            if not is_aligned(part):
                self[key] = device_array(part.shape, part.dtype, stream=stream)
                self._moved.append((_bytes(self[key], records.ndim), _bytes(part, records.ndim)))
        for to, of in self._moved:
            _copy(to, of, stream)

    def store(self) -> None:
        """Takes the fields back to the records."""
        for to, of in self._moved:
            _copy(of, to, self._stream)


def aligned(
    arguments: Sequence[Any], keys: Sequence[list[str]], stream: Stream
) -> tuple[list[Any], list[AlignedFields]]:
    """The arguments with the packed records among them as such fields, and these; one array, given twice, as one."""
    taken: list[Any] = []
    made: list[AlignedFields] = []
    for argument, used in zip(arguments, keys, strict=True):
        if not used or not isinstance(argument, DeviceNDArray) or _has_places(argument, used):
            taken.append(argument)
            continue
        known = next((each for each in made if _same(each.records, argument)), None)
        if known is None:
            every = [key for other, more in zip(arguments, keys, strict=True) if _same(other, argument) for key in more]
            if any(_overlap(each.records, argument) for each in made):
                raise TypeError(
                    "two arguments are parts of the same packed records: make these with np.dtype(…, align=True)"
                )
            known = AlignedFields(argument, sorted({*every}), stream)
            made.append(known)
        taken.append(known)
    return taken, made


def is_aligned(array: DeviceNDArray) -> bool:
    """Whether each element lies at a multiple of its size, as far as a GPU asks."""
    flat = all(step % array.dtype.itemsize == 0 for step in array.strides)
    return bool(array.flags.aligned) and flat


def _has_places(records: DeviceNDArray, keys: list[str]) -> bool:
    return all(map(is_aligned, Fields(records, keys).values()))


def _same(one: Any, other: DeviceNDArray) -> bool:
    return isinstance(one, DeviceNDArray) and _place(one) == _place(other)


def _place(array: DeviceNDArray) -> tuple[Any, ...]:
    return array._pointer(), array.shape, array.strides, array.dtype


def _overlap(one: DeviceNDArray, other: DeviceNDArray) -> bool:
    return bool(np.may_share_memory(one._view, other._view))


def _bytes(field: DeviceNDArray, ndim: int) -> DeviceNDArray:
    """The bytes of a field, with one dimension for those of each record; `ndim`: of the records."""
    width = field.dtype.itemsize * prod(field.shape[ndim:])
    shape, strides = (*field.shape[:ndim], width), (*field.strides[:ndim], 1)
    return DeviceNDArray(view_at(field._pointer(), shape, np.dtype(np.uint8), strides), field._memory)


def _copy(to: DeviceNDArray, of: DeviceNDArray, stream: Stream) -> None:
    if of.size == 0:
        return
    try:
        to, of = to.reshape(-1, of.shape[-1]), of.reshape(-1, of.shape[-1])
    except ValueError:
        for i in range(len(of)):
            _copy(to[i], of[i], stream)
        return
    _copy_bytes[(len(of) + _THREADS - 1) // _THREADS, _THREADS, stream](to, of)
