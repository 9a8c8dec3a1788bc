"""NumPy functions that join arrays, as loops (arrays.py). `parts` is a tuple of arrays, and `axis` a constant."""

from __future__ import annotations

# mypy: ignore-errors
import numpy as np

from .. import builtin


def concatenate(parts, *, axis=0):
    first = parts[0].shape
    front = first[:axis]
    back = () if axis == -1 else first[axis + 1 :]
    total = 0
    for part in parts:
        if part.ndim != parts[0].ndim:
            builtin.static_fail(
                "only arrays with the same number of dimensions can be joined: give the smaller one an axis, a[None, :]"
            )
        if part.shape[:axis] != front or (axis != -1 and part.shape[axis + 1 :] != back):
            raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
        total += part.shape[axis]
    joined = np.empty((*front, total, *back), dtype=np.result_type(*parts))
    start = 0
    for part in parts:
        end = start + part.shape[axis]
        if axis == 0:
            joined[start:end] = part
        elif axis == 1:
            joined[:, start:end] = part
        elif axis == 2:
            joined[:, :, start:end] = part
        elif axis == -1:
            joined[..., start:end] = part
        elif axis == -2:
            joined[..., start:end, :] = part
        else:
            builtin.static_fail("arrays can be joined along axis 0, 1, 2, -1 or -2: transpose them for other axes")
        start = end
    return joined


def stack(parts, *, axis=0):
    first = parts[0].shape
    front = first if axis == -1 else first[:axis]
    back = () if axis == -1 else first[axis:]
    for part in parts:
        if part.ndim != parts[0].ndim:
            builtin.static_fail(
                "only arrays with the same number of dimensions can be stacked: give the smaller one an axis"
            )
        if part.shape != first:
            raise ValueError("all input arrays must have the same shape")
    stacked = np.empty((*front, len(parts), *back), dtype=np.result_type(*parts))
    for place, part in enumerate(parts):
        if axis == 0:
            stacked[place] = part
        elif axis == 1:
            stacked[:, place] = part
        elif axis == 2:
            stacked[:, :, place] = part
        elif axis == -1:
            stacked[..., place] = part
        else:
            builtin.static_fail("arrays can be stacked along axis 0, 1, 2 or -1: transpose them for other axes")
    return stacked


def hstack(parts):
    return np.concatenate(parts) if parts[0].ndim == 1 else np.concatenate(parts, axis=1)


def atleast_2d(a):
    """An array of one dimension becomes a matrix with one row."""
    if a.ndim == 1:
        rows = np.empty((1, a.shape[0]), dtype=a.dtype)
        rows[0] = a
    else:
        rows = a.copy()
    return rows


def vstack(parts):
    """Arrays of one dimension are rows."""
    width = parts[0].shape if parts[0].ndim == 1 else parts[0].shape[1:]
    count = 0
    for part in parts:
        if (part.shape if part.ndim == 1 else part.shape[1:]) != width:
            raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
        count += 1 if part.ndim == 1 else part.shape[0]
    rows = np.empty((count, *width), dtype=np.result_type(*parts))
    start = 0
    for part in parts:
        if part.ndim == 1:
            rows[start] = part
            start += 1
        else:
            rows[start : start + part.shape[0]] = part
            start += part.shape[0]
    return rows


def column_stack(parts):
    """Arrays of one dimension are columns."""
    back = () if parts[0].ndim == 1 else parts[0].shape[2:]
    count = 0
    for part in parts:
        if part.shape[0] != parts[0].shape[0]:
            raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
        count += 1 if part.ndim == 1 else part.shape[1]
    columns = np.empty((parts[0].shape[0], count, *back), dtype=np.result_type(*parts))
    start = 0
    for part in parts:
        if part.ndim == 1:
            columns[:, start] = part
            start += 1
        else:
            columns[:, start : start + part.shape[1]] = part
            start += part.shape[1]
    return columns


def dstack(parts):
    """Arrays of two dimensions are layers of the third."""
    if parts[0].ndim == 1:
        layers = np.stack(parts, axis=1)[None]
    elif parts[0].ndim == 2:
        layers = np.stack(parts, axis=2)
    else:
        layers = np.concatenate(parts, axis=2)
    return layers
