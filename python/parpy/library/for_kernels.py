"""NumPy functions in kernels, where functions have no memory for arrays and all results are numbers."""

from __future__ import annotations

# mypy: ignore-errors
import numpy as np

from .. import builtin
from .arrays import interpolated
from .order import blended, insertion


def element(a, i):
    """Element number i of an array of one to three dimensions."""
    if a.ndim == 1:
        return a[i]
    if a.ndim == 2:
        return a[i // a.shape[1], i % a.shape[1]]
    if a.ndim != 3:
        builtin.static_fail("np.median takes an array of one to three dimensions here")
    return a[i // (a.shape[1] * a.shape[2]), i // a.shape[2] % a.shape[1], i % a.shape[2]]


def ranked(a, k):
    """The element that sorting would put at place k, without memory: a part of the elements between two bounds is
    counted until the element is found. None of them is NaN."""
    n = a.size
    low = high = found = element(a, 0)
    has_low = has_high = False
    done = False
    first = 0
    while not done:
        found = element(a, first)
        while (has_low and found <= low) or (has_high and found >= high):
            first += 1
            found = element(a, first)
        below, equal = 0, 0
        for i in range(n):
            each = element(a, i)
            if each < found:
                below += 1
            elif each == found:
                equal += 1
        if k < below:
            high, has_high = found, True
        elif k < below + equal:
            done = True
        else:
            low, has_low = found, True
    return found


def any_nan(a):
    nan = False
    for i in range(a.size):
        each = element(a, i)
        if each != each:
            nan = True
    return nan


def median(a):
    """The median, which is NaN for an empty array, as in NumPy (without NumPy's warning)."""
    middle = np.sum(a[:0]) / 1 * np.nan
    n = a.size
    if n > 0 and any_nan(a):
        middle = middle + np.nan
    elif n > 0:
        upper = ranked(a, n // 2)
        lower = upper
        if n % 2 == 0:
            lower = ranked(a, n // 2 - 1)
        middle = (lower / 1 + upper / 1) / 2
    return middle


def quantile(a, q):
    """Interpolates between the two nearest elements by NumPy's formula for its method `linear`."""
    n = a.size
    where = (n - 1) * q
    below = min(int(where), n - 1)
    t = where - below
    between = np.nan * (element(a, 0) * q)
    if not any_nan(a):
        low = ranked(a, below)
        high = ranked(a, min(below + 1, n - 1))
        between = blended(low, high, t)
    return between


def percentile(a, q):
    return quantile(a, q / 100)


def searchsorted(a, v, side="left"):
    if v.ndim != 0:
        builtin.static_fail("np.searchsorted takes a number in kernels")
    return insertion(a, v, side)


def digitize(x, bins, right=False):
    if x.ndim != 0:
        builtin.static_fail("np.digitize takes a number in kernels")
    n = bins.shape[0]
    if n > 1 and bins[0] > bins[n - 1]:
        descending = bins[::-1]
        if right:
            return n - insertion(descending, x, "right")
        else:
            return n - insertion(descending, x, "left")
    if right:
        return insertion(bins, x, "left")
    else:
        return insertion(bins, x, "right")


def interp(x, xp, fp):
    if x.ndim != 0:
        builtin.static_fail("np.interp takes a number in kernels")
    return interpolated(x, xp, fp)


def angle(z):
    if z.ndim != 0:
        builtin.static_fail("np.angle takes a number in kernels")
    return np.arctan2(z.imag, z.real)


def sinc(x):
    if x.ndim != 0:
        builtin.static_fail("np.sinc takes a number in kernels")
    y = np.pi * x
    return np.sin(y) / y if y != 0 else y + 1


def nan_to_num(x):
    if x.ndim != 0 or isinstance(x, (complex, np.complexfloating)):
        builtin.static_fail("np.nan_to_num takes a real number in kernels")
    if isinstance(x, (float, np.floating)):
        limit = np.finfo(x.dtype).max
        return min(max(x, -limit), limit) if x == x else 0 * limit
    return x
