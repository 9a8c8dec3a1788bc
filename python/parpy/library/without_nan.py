"""NumPy's reductions of all elements that ignore NaN, in the compiled language. Python never runs them."""

from __future__ import annotations

# mypy: ignore-errors
import numpy as np


def nansum(a):
    return np.sum(np.where(a != a, 0, a))


def nanprod(a):
    return np.prod(np.where(a != a, 1, a))


def nanmean(a):
    return np.sum(np.where(a != a, 0, a)) / np.sum(np.where(a != a, 0, 1 + 0 * np.where(a != a, 0, a)))


def nanvar(a):
    mean = np.nanmean(a)
    rest = np.sum(np.where(a != a, 0, np.square(np.abs(a - mean))))
    return rest / np.sum(np.where(a != a, 0, 1 + 0 * np.where(a != a, 0, a)))


def nanstd(a):
    return np.sqrt(np.nanvar(a))


def nanmin(a):
    x = np.ravel(a)
    if x.shape[0] == 0:
        raise ValueError("zero-size array to reduction operation fmin which has no identity")
    found = x[0]
    for i in range(1, x.shape[0]):
        if x[i] < found or found != found:
            found = x[i]
    return found


def nanmax(a):
    x = np.ravel(a)
    if x.shape[0] == 0:
        raise ValueError("zero-size array to reduction operation fmax which has no identity")
    found = x[0]
    for i in range(1, x.shape[0]):
        if x[i] > found or found != found:
            found = x[i]
    return found
