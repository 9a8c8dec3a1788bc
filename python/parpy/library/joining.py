"""Functions of NumPy that join arrays, as loops (arrays.py). `axis` is a constant of the program."""

from __future__ import annotations

# mypy: ignore-errors
import numpy as np

from .. import builtin


def concatenate_one(a, *, axis=0):
    return a.copy()


def concatenate_two(a, b, *, axis=0):
    if a.ndim != b.ndim:
        builtin.static_fail("arrays of one number of dimensions are joined: give the smaller one an axis, a[None, :]")
    if a.ndim > 2:
        builtin.static_fail(
            "arrays of at most two dimensions are joined here: copy the parts into an array with np.zeros"
        )
    if a.ndim == 1:
        joined = np.empty(a.shape[0] + b.shape[0], dtype=a.dtype)
        if a.shape[0] < 0:  # the name has the type that holds both
            joined = np.empty(a.shape[0] + b.shape[0], dtype=b.dtype)
        joined[: a.shape[0]] = a
        joined[a.shape[0] :] = b
    elif axis == 0 or axis == -2:
        if a.shape[1] != b.shape[1]:
            raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
        joined = np.empty((a.shape[0] + b.shape[0], a.shape[1]), dtype=a.dtype)
        if a.shape[0] < 0:
            joined = np.empty((a.shape[0] + b.shape[0], a.shape[1]), dtype=b.dtype)
        joined[: a.shape[0]] = a
        joined[a.shape[0] :] = b
    else:
        if a.shape[0] != b.shape[0]:
            raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
        joined = np.empty((a.shape[0], a.shape[1] + b.shape[1]), dtype=a.dtype)
        if a.shape[0] < 0:
            joined = np.empty((a.shape[0], a.shape[1] + b.shape[1]), dtype=b.dtype)
        joined[:, : a.shape[1]] = a
        joined[:, a.shape[1] :] = b
    return joined


def concatenate_three(a, b, c, *, axis=0):
    if a.ndim != b.ndim or a.ndim != c.ndim:
        builtin.static_fail("arrays of one number of dimensions are joined: give the smaller one an axis, a[None, :]")
    if a.ndim > 2:
        builtin.static_fail(
            "arrays of at most two dimensions are joined here: copy the parts into an array with np.zeros"
        )
    if a.ndim == 1:
        joined = np.empty(a.shape[0] + b.shape[0] + c.shape[0], dtype=a.dtype)
        if a.shape[0] < 0:  # the name has the type that holds all
            joined = np.empty(a.shape[0] + b.shape[0] + c.shape[0], dtype=b.dtype)
            joined = np.empty(a.shape[0] + b.shape[0] + c.shape[0], dtype=c.dtype)
        joined[: a.shape[0]] = a
        joined[a.shape[0] : a.shape[0] + b.shape[0]] = b
        joined[a.shape[0] + b.shape[0] :] = c
    elif axis == 0 or axis == -2:
        if a.shape[1] != b.shape[1] or a.shape[1] != c.shape[1]:
            raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
        joined = np.empty((a.shape[0] + b.shape[0] + c.shape[0], a.shape[1]), dtype=a.dtype)
        if a.shape[0] < 0:
            joined = np.empty((a.shape[0] + b.shape[0] + c.shape[0], a.shape[1]), dtype=b.dtype)
            joined = np.empty((a.shape[0] + b.shape[0] + c.shape[0], a.shape[1]), dtype=c.dtype)
        joined[: a.shape[0]] = a
        joined[a.shape[0] : a.shape[0] + b.shape[0]] = b
        joined[a.shape[0] + b.shape[0] :] = c
    else:
        if a.shape[0] != b.shape[0] or a.shape[0] != c.shape[0]:
            raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
        joined = np.empty((a.shape[0], a.shape[1] + b.shape[1] + c.shape[1]), dtype=a.dtype)
        if a.shape[0] < 0:
            joined = np.empty((a.shape[0], a.shape[1] + b.shape[1] + c.shape[1]), dtype=b.dtype)
            joined = np.empty((a.shape[0], a.shape[1] + b.shape[1] + c.shape[1]), dtype=c.dtype)
        joined[:, : a.shape[1]] = a
        joined[:, a.shape[1] : a.shape[1] + b.shape[1]] = b
        joined[:, a.shape[1] + b.shape[1] :] = c
    return joined


def concatenate_four(a, b, c, d, *, axis=0):
    return np.concatenate((np.concatenate((a, b), axis=axis), np.concatenate((c, d), axis=axis)), axis=axis)


def hstack_two(a, b):
    return np.concatenate((a, b), axis=1)


def hstack_three(a, b, c):
    return np.concatenate((a, b, c), axis=1)


def hstack_four(a, b, c, d):
    return np.concatenate((a, b, c, d), axis=1)


def atleast_2d(a):
    """An array of one dimension as a row."""
    if a.ndim == 1:
        rows = np.empty((1, a.shape[0]), dtype=a.dtype)
        rows[0] = a
    else:
        rows = a.copy()
    return rows


def vstack_two(a, b):
    return np.concatenate((np.atleast_2d(a), np.atleast_2d(b)))


def vstack_three(a, b, c):
    return np.concatenate((np.atleast_2d(a), np.atleast_2d(b), np.atleast_2d(c)))


def vstack_four(a, b, c, d):
    return np.concatenate((np.atleast_2d(a), np.atleast_2d(b), np.atleast_2d(c), np.atleast_2d(d)))


def stack_two(a, b, *, axis=0):
    if a.ndim != 1 or b.ndim != 1:
        builtin.static_fail("arrays of one dimension are stacked here: copy the parts into an array with np.zeros")
    if axis == 0 or axis == -2:
        stacked = np.concatenate((a[None, :], b[None, :]))
    else:
        stacked = np.concatenate((a[:, None], b[:, None]), axis=1)
    return stacked


def stack_three(a, b, c, *, axis=0):
    if a.ndim != 1 or b.ndim != 1 or c.ndim != 1:
        builtin.static_fail("arrays of one dimension are stacked here: copy the parts into an array with np.zeros")
    if axis == 0 or axis == -2:
        stacked = np.concatenate((a[None, :], b[None, :], c[None, :]))
    else:
        stacked = np.concatenate((a[:, None], b[:, None], c[:, None]), axis=1)
    return stacked


def column_stack_two(a, b):
    return np.stack((a, b), axis=1)


def column_stack_three(a, b, c):
    return np.stack((a, b, c), axis=1)
