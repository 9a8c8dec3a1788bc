"""The order of the axes in which results lie in memory: ``order="K"`` of NumPy's ufuncs, and their other orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..arrays.libraries import Library, Memory, is_c_contiguous, is_number, memory_of, transposed


def axes_of_results(order: str, arrays: Sequence[Any], shape: Sequence[int]) -> tuple[int, ...] | None:
    """The axes of new results from the outermost to the innermost one in memory, as NumPy chooses them for these
    operands. None stands for C order."""
    rank = len(shape)
    if rank < 2 or order == "C":
        return None
    if order == "K":
        return None if all(map(_is_in_c_order, arrays)) else _kept_order(arrays, shape)
    return tuple(range(rank))[::-1] if order == "F" or all(map(_is_in_fortran_order, arrays)) else None


def empty_with_axes(
    library: Library, shape: Sequence[int], dtype: Any, like: Any, stream: Any, axes: tuple[int, ...] | None
) -> Any:
    """A new array without gaps whose axes lie in memory in this order; None stands for C order."""
    if axes is None:
        return library.empty(tuple(shape), dtype, like, stream)
    return back(library.empty(tuple(shape[axis] for axis in axes), dtype, like, stream), axes)


def back(array: Any, axes: Sequence[int]) -> Any:
    """The view of which ``array`` is the transposed view by ``axes``."""
    return transposed(array, [axes.index(axis) for axis in range(len(axes))])


def _is_in_c_order(value: Any) -> bool:
    return is_number(value) or is_c_contiguous(value)


def _is_in_fortran_order(value: Any) -> bool:
    if is_number(value):
        return True
    expected, memory = 1, _memory(value)
    for extent, stride in zip(memory.shape, memory.strides, strict=True):
        if extent != 1 and stride != expected * memory.size:
            return False
        expected *= extent
    return True


def _kept_order(arrays: Sequence[Any], shape: Sequence[int]) -> tuple[int, ...] | None:
    """The order in which the strides of the operands decrease. Where they disagree or leave a choice, C order wins."""
    strides = [_strides(each, shape) for each in arrays if not is_number(each)]
    found: list[int] = []  # from the innermost axis to the outermost one
    for axis in reversed(range(len(shape))):
        place = len(found)
        for k in reversed(range(len(found))):
            pairs = [(each[found[k]], each[axis]) for each in strides if each[found[k]] and each[axis]]
            if not pairs:
                continue
            if any(inner <= outer for inner, outer in pairs):
                break
            place = k
        found.insert(place, axis)
    axes = tuple(reversed(found))
    return None if axes == tuple(range(len(shape))) else axes


def _strides(array: Any, shape: Sequence[int]) -> tuple[int, ...]:
    """The distances of elements along the axes of ``shape``, 0 where the array has one element alone."""
    memory = _memory(array)
    known = [0 if n == 1 else abs(step) for n, step in zip(memory.shape, memory.strides, strict=True)]
    return (*[0] * (len(shape) - len(known)), *known)


def _memory(array: Any) -> Memory:
    found = memory_of(array)
    assert found is not None
    return found
