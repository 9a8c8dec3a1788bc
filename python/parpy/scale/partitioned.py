"""Arrays in blocks with separate memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


def own_memory(shape: tuple[int, ...], dtype: np.dtype[Any], axis: int) -> np.ndarray[Any, Any]:
    """Memory for an array of which one part uses some rows along the axis, with the row numbers of the whole array.
    Untouched pages take no physical memory. Rows are contiguous."""
    moved = np.empty((shape[axis], *shape[:axis], *shape[axis + 1 :]), dtype)
    return np.moveaxis(moved, 0, axis)


def rows(array: np.ndarray[Any, Any], axis: int, first: int, last: int) -> np.ndarray[Any, Any]:
    """A view of the rows ``first … last - 1`` along the axis."""
    view: np.ndarray[Any, Any] = array[(slice(None),) * axis + (slice(first, last),)]
    return view


class Partitioned:
    """An array whose blocks along one axis have separate memory, one block for each device.

    ``shards`` are NumPy arrays, views of the blocks; ``cuts`` has the first row of each block, and the end. ``numpy()``
    returns the whole array. It may be an argument of calls with ``opts.devices``, which use its blocks in place.
    """

    def __init__(self, parts: list[np.ndarray[Any, Any]], axis: int, cuts: tuple[int, ...]) -> None:
        self.parts, self.axis, self.cuts = parts, axis, cuts
        """``parts`` have the shape of the whole array; each holds its own rows, and those of a halo."""

    @property
    def stand_in(self) -> np.ndarray[Any, Any]:
        """A NumPy array of this shape and type with arbitrary elements, for uses that read no elements."""
        return self.parts[0]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(map(int, self.parts[0].shape))

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self.parts[0].dtype
        return dtype

    @property
    def shards(self) -> tuple[np.ndarray[Any, Any], ...]:
        ends = zip(self.parts, self.cuts, self.cuts[1:], strict=False)
        return tuple(rows(part, self.axis, first, last) for part, first, last in ends)

    def numpy(self) -> np.ndarray[Any, Any]:
        """Returns a copy of the whole array."""
        return np.concatenate(self.shards, self.axis)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("the blocks of a partitioned array are not side by side: they have to be copied")
        return self.numpy().astype(dtype or self.dtype, copy=False)

    def copy_from(self, source: Any) -> None:
        """Copies the elements of an array of the same shape. Raises ValueError for another shape."""
        given = np.asarray(source)
        if given.shape != self.shape:
            raise ValueError(f"an array of shape {given.shape} cannot be stored to one of shape {self.shape}")
        for shard, first, last in zip(self.shards, self.cuts, self.cuts[1:], strict=False):
            shard[...] = rows(given, self.axis, first, last)

    def __repr__(self) -> str:
        return (
            f"<partitioned array of shape {self.shape}, {self.dtype}, {len(self.parts)} blocks along axis {self.axis}>"
        )


def partitioned(array: Any, axis: int, cuts: tuple[int, ...]) -> Partitioned:
    """Copies an array to blocks."""
    given = np.asarray(array)
    made = Partitioned([own_memory(given.shape, given.dtype, axis) for _ in cuts[1:]], axis, cuts)
    made.copy_from(given)
    return made


def blocks_of(array: Any, devices: Iterable[int], axis: int) -> tuple[np.ndarray[Any, Any], int, tuple[int, ...]]:
    """The array as NumPy's, the axis as a number from 0, and the cuts for one block per device. Blocks have equal sizes
    if the number of devices divides the extent."""
    given = np.asarray(array)
    parts = len(tuple(devices))
    if parts == 0:
        raise ValueError("an array is partitioned over at least one device")
    if not -given.ndim <= axis < given.ndim:
        raise ValueError(f"an array of {given.ndim} dimensions has no axis {axis}")
    axis %= given.ndim
    extent = given.shape[axis]
    return given, axis, tuple(part * extent // parts for part in range(parts + 1))


def split(array: Any, devices: Iterable[int], axis: int = 0) -> Partitioned:
    """Copies an array to blocks on virtual devices."""
    return partitioned(*blocks_of(array, devices, axis))
