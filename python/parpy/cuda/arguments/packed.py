"""Fields of packed records on a GPU, which can read a number only if its address is a multiple of its size.

Other fields are copied to arrays of their own before a launch and copied back after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...arrays.device_arrays import is_aligned, pointer_of
from .._arrays import DeviceNDArray, device_array
from .._streams import Stream
from .kinds import Fields


class AlignedFields(Fields):
    """The fields of records by key, each at an aligned address until `store` copies them back to the records."""

    def __init__(self, records: DeviceNDArray, keys: list[str], stream: Stream) -> None:
        super().__init__(records, keys)
        self._stream = stream
        self._moved: list[tuple[DeviceNDArray, DeviceNDArray]] = []  # the aligned copy, the field in the records
        for key, part in [*self.items()]:
            if not is_aligned(part._view):
                self[key] = device_array(part.shape, part.dtype, stream=stream)
                self._moved.append((self[key], part))
        for to, of in self._moved:
            to.copy_to_device(of, stream)

    def store(self) -> None:
        """Copies the fields back to the records."""
        for to, of in self._moved:
            of.copy_to_device(to, self._stream)


def aligned(
    arguments: Sequence[Any], keys: Sequence[list[str]], stream: Stream
) -> tuple[list[Any], list[AlignedFields]]:
    """The arguments, with aligned fields in place of packed records, and all aligned fields, one for each array."""
    taken: list[Any] = []
    made: list[AlignedFields] = []
    for argument, used in zip(arguments, keys, strict=True):
        if not used or not isinstance(argument, DeviceNDArray) or _has_places(argument, used):
            taken.append(argument)
            continue
        known = next((each for each in made if _same(each.records, argument)), None)
        if known is None:
            every = [key for other, more in zip(arguments, keys, strict=True) if _same(other, argument) for key in more]
            if any(np.may_share_memory(each.records._view, argument._view) for each in made):
                raise TypeError(
                    "two arguments are parts of the same packed records: make these with np.dtype(…, align=True)"
                )
            known = AlignedFields(argument, sorted({*every}), stream)
            made.append(known)
        taken.append(known)
    return taken, made


def _has_places(records: DeviceNDArray, keys: list[str]) -> bool:
    return all(is_aligned(part._view) for part in Fields(records, keys).values())


def _same(one: Any, other: DeviceNDArray) -> bool:
    return isinstance(one, DeviceNDArray) and _place(one) == _place(other)


def _place(array: DeviceNDArray) -> tuple[Any, ...]:
    return pointer_of(array._view), array.shape, array.strides, array.dtype
