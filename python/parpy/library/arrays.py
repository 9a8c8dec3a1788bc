"""Functions of NumPy as loops. Each has the name and the parameters of NumPy's, and its result for arrays of the number
of dimensions that it says; the compiler sees their text in place of their calls. They are never run by Python."""

from __future__ import annotations

# mypy: ignore-errors
import math

import numpy as np

from .. import builtin
from ..calls.options import CompileBackend

# ------------------------------------------------------------ running values


def cumsum(a):
    if a.ndim == 1:
        s = np.sum(a[:0])
        sums = np.full(a.shape[0], s)
        for i in range(a.shape[0]):
            s += a[i]
            sums[i] = s
    else:
        x = np.ravel(a)
        sums = np.cumsum(x)
    return sums


def cumprod(a):
    if a.ndim == 1:
        p = np.prod(a[:0])
        products = np.full(a.shape[0], p)
        for i in range(a.shape[0]):
            p *= a[i]
            products[i] = p
    else:
        x = np.ravel(a)
        products = np.cumprod(x)
    return products


def running_maximum(a):
    largest = a.copy()
    for i in range(1, a.shape[0]):
        largest[i] = np.maximum(largest[i - 1], a[i])
    return largest


def running_minimum(a):
    smallest = a.copy()
    for i in range(1, a.shape[0]):
        smallest[i] = np.minimum(smallest[i - 1], a[i])
    return smallest


def diff(a):
    if a.ndim != 1:
        builtin.static_fail("np.diff takes an array of one dimension here: write a[:, 1:] - a[:, :-1]")
    return a[1:] - a[:-1]


def gradient(f):
    if f.ndim != 1 and f.ndim != 2:
        builtin.static_fail("np.gradient takes an array of one or two dimensions here")
    if f.shape[0] < 2 or f.shape[-1] < 2:
        raise ValueError("np.gradient takes an array of 2 or more elements along each dimension")
    slopes = f / 1
    slopes[0] = f[1] - f[0]
    slopes[1:-1] = (f[2:] - f[:-2]) / 2
    slopes[-1] = f[-1] - f[-2]
    if f.ndim == 1:
        return slopes
    across = f / 1
    across[:, 0] = f[:, 1] - f[:, 0]
    across[:, 1:-1] = (f[:, 2:] - f[:, :-2]) / 2
    across[:, -1] = f[:, -1] - f[:, -2]
    return slopes, across


def trapezoid(y, *, dx=1.0):
    if y.ndim != 1:
        builtin.static_fail("np.trapezoid takes an array of one dimension here: loop over the rows")
    return np.sum(dx * (y[1:] + y[:-1]) / 2)


def trapezoid_over(y, x):
    if y.ndim != 1:
        builtin.static_fail("np.trapezoid takes an array of one dimension here: loop over the rows")
    return np.sum((x[1:] - x[:-1]) * (y[1:] + y[:-1]) / 2)


# ------------------------------------------------------------ numbers at equal distances


def arange_to(stop):
    return np.arange(0, stop, 1)


def arange(start_or_stop, stop, step=1):
    count = max(math.ceil((stop - start_or_stop) / step), 0)
    distance = (start_or_stop + step) - start_or_stop
    made = np.full(count, start_or_stop + 0 * distance)
    for i in range(count):
        made[i] = start_or_stop + i * distance
    return made


def linspace(start, stop, num=50):
    distance = (stop - start) / max(num - 1, 1)
    made = np.empty(num)
    for i in range(num):
        made[i] = i * distance + start
    if num > 1:
        made[num - 1] = stop
    return made


# ------------------------------------------------------------ order


def _first_place(a, value):
    """Where `value`, an element of a, comes first, or NaN."""
    place = a.shape[0]
    for i in range(a.shape[0]):
        if a[i] == value or a[i] != a[i]:
            place = min(place, i)
    return place


def argmax(a):
    if a.shape[0] == 0:
        raise ValueError("attempt to get argmax of an empty sequence")
    best = 0
    if a.ndim != 1:
        x = np.ravel(a)
        best = int(np.argmax(x))
    elif builtin.static_backend_eq(CompileBackend.Cuda):  # two reductions, which run in parallel
        best = _first_place(a, np.max(a))
    else:
        for i in range(1, a.shape[0]):
            if a[i] > a[best] or (a[i] != a[i] and a[best] == a[best]):
                best = i
    return np.int64(best)


def argmin(a):
    if a.shape[0] == 0:
        raise ValueError("attempt to get argmin of an empty sequence")
    best = 0
    if a.ndim != 1:
        x = np.ravel(a)
        best = int(np.argmin(x))
    elif builtin.static_backend_eq(CompileBackend.Cuda):  # two reductions, which run in parallel
        best = _first_place(a, np.min(a))
    else:
        for i in range(1, a.shape[0]):
            if a[i] < a[best] or (a[i] != a[i] and a[best] == a[best]):
                best = i
    return np.int64(best)


def sort(a):
    """Merges runs that get twice as long each time; elements that are equal keep their order, NaN comes last."""
    if a.ndim == 2:
        done = np.sort(a, axis=1)
    elif a.ndim != 1:
        builtin.static_fail("np.sort takes arrays of one or two dimensions here: loop over the others")
    else:
        n = a.shape[0]
        done, merged = a.copy(), a.copy()
        width = 1
        while width < n:
            for first in range(0, n, 2 * width):
                middle, last = min(first + width, n), min(first + 2 * width, n)
                i, j = first, middle
                for k in range(first, last):
                    take = j >= last
                    if i < middle and j < last:
                        take = not (done[j] < done[i] or (done[i] != done[i] and done[j] == done[j]))
                    if take:
                        merged[k] = done[i]
                        i += 1
                    else:
                        merged[k] = done[j]
                        j += 1
            done[:] = merged
            width *= 2
    return done


def argsort(a):
    """As `sort`, of the places of the elements: a gather by them would take longer than moving the elements."""
    if a.ndim == 2:
        done = np.argsort(a, axis=1)
    elif a.ndim != 1:
        builtin.static_fail("np.argsort takes arrays of one or two dimensions here: loop over the others")
    else:
        n = a.shape[0]
        done, merged = np.empty(a.shape[0], dtype=np.int64), np.empty(a.shape[0], dtype=np.int64)
        for i in range(n):
            done[i] = i
        width = 1
        while width < n:
            for first in range(0, n, 2 * width):
                middle, last = min(first + width, n), min(first + 2 * width, n)
                i, j = first, middle
                for k in range(first, last):
                    take = j >= last
                    if i < middle and j < last:
                        left, right = a[done[i]], a[done[j]]
                        take = not (right < left or (left != left and right == right))
                    if take:
                        merged[k] = done[i]
                        i += 1
                    else:
                        merged[k] = done[j]
                        j += 1
            done[:] = merged
            width *= 2
    return done


def median(a):
    """NaN of no elements, as NumPy's, which warns."""
    middle = np.sum(a[:0]) / 1 * np.nan
    if a.ndim == 1:
        n = a.shape[0]
        s = np.sort(a)
        if n > 0:
            middle = (s[(n - 1) // 2] / 1 + s[n // 2] / 1) / 2
            if s[n - 1] != s[n - 1]:
                middle = s[n - 1] / 1
    else:
        x = np.ravel(a)
        middle = np.median(x)
    return middle


def quantile(a, q):
    """Between the two nearest elements, by NumPy's formula for its method `linear`."""
    if a.ndim != 1:
        builtin.static_fail("np.quantile takes an array of one dimension here: take np.ravel of it")
    n = a.shape[0]
    if q < 0 or q > 1:
        raise ValueError("Quantiles must be in the range [0, 1]")
    if n == 0:
        raise IndexError("there is no quantile of no elements")
    s = np.sort(a)
    place = (n - 1) * q
    below = min(int(place), n - 1)
    t = place - below
    low, high = s[below], s[min(below + 1, n - 1)]
    step = high - low
    between = high - step * (1 - t) if t >= 0.5 else low + step * t
    return between if s[n - 1] == s[n - 1] else s[n - 1] * q


def percentile(a, q):
    if q < 0 or q > 100:
        raise ValueError("Percentiles must be in the range [0, 100]")
    return np.quantile(a, q / 100)


def searchsorted(a, v):
    """Where the number `v` goes in front of elements that are equal; of an array, where each of its elements goes."""
    if v.ndim > 1:
        builtin.static_fail("np.searchsorted takes numbers and arrays of one dimension here")
    if v.ndim == 1:
        places = np.zeros(v.shape[0], np.int64)
        for i in range(v.shape[0]):
            places[i] = np.searchsorted(a, v[i])
        return places
    low, high = 0, a.shape[0]
    while low < high:
        middle = (low + high) // 2
        if a[middle] < v or (v != v and a[middle] == a[middle]):
            low = middle + 1
        else:
            high = middle
    return np.int64(low)


# ------------------------------------------------------------ other places


def flip(m):
    if m.ndim != 1:
        builtin.static_fail("np.flip takes an array of one dimension here: write m[::-1, ::-1]")
    return m[::-1]


def flipud(m):
    return m[::-1]


def roll(a, shift):
    if a.ndim != 1:
        builtin.static_fail("np.roll takes an array of one dimension here: loop over the rows")
    rolled = np.empty_like(a)
    if a.shape[0] > 0:
        k = shift % a.shape[0]
        rolled[k:] = a[: a.shape[0] - k]
        rolled[:k] = a[a.shape[0] - k :]
    return rolled


def roll_along(a, shift, axis):
    if a.ndim != 2:
        builtin.static_fail("np.roll takes an axis of arrays of two dimensions here")
    rolled = np.empty_like(a)
    if axis == 0 or axis == -2:
        if a.shape[0] > 0:
            k = shift % a.shape[0]
            rolled[k:] = a[: a.shape[0] - k]
            rolled[:k] = a[a.shape[0] - k :]
    else:
        if axis != 1 and axis != -1:
            raise np.exceptions.AxisError("the axis of np.roll is out of bounds")
        if a.shape[1] > 0:
            m = shift % a.shape[1]
            rolled[:, m:] = a[:, : a.shape[1] - m]
            rolled[:, :m] = a[:, a.shape[1] - m :]
    return rolled


def tile(A, reps):
    if A.ndim != 1:
        builtin.static_fail("np.tile takes an array of one dimension here")
    n = A.shape[0]
    tiled = np.empty(A.shape[0] * reps, dtype=A.dtype)
    for k in range(reps):
        for i in range(n):
            tiled[k * n + i] = A[i]
    return tiled


def repeat(a, repeats):
    if a.ndim != 1:
        builtin.static_fail("np.repeat takes an array of one dimension here")
    repeated = np.empty(a.shape[0] * repeats, dtype=a.dtype)
    for i in range(a.shape[0]):
        for k in range(repeats):
            repeated[i * repeats + k] = a[i]
    return repeated


def tril(m, k=0):
    if m.ndim != 2:
        builtin.static_fail("np.tril takes an array of two dimensions here")
    lower = m.copy()
    for i in range(m.shape[0]):
        for j in range(max(i + k + 1, 0), m.shape[1]):
            lower[i, j] = 0
    return lower


def triu(m, k=0):
    if m.ndim != 2:
        builtin.static_fail("np.triu takes an array of two dimensions here")
    upper = m.copy()
    for i in range(m.shape[0]):
        for j in range(min(max(i + k, 0), m.shape[1])):
            upper[i, j] = 0
    return upper


# ------------------------------------------------------------ products and sums


def cross(a, b):
    if a.ndim != 1 or b.ndim != 1:
        builtin.static_fail("np.cross takes arrays of one dimension here: loop over the rows")
    if a.shape[0] != 3 or b.shape[0] != 3:
        raise ValueError("np.cross takes arrays of 3 elements here")
    product = np.full(3, a[0] * b[0])
    product[0] = a[1] * b[2] - a[2] * b[1]
    product[1] = a[2] * b[0] - a[0] * b[2]
    product[2] = a[0] * b[1] - a[1] * b[0]
    return product


def inner(a, b):
    """The sums of products over the last dimension of both."""
    if a.ndim > 2 or b.ndim > 2:
        builtin.static_fail("np.inner takes arrays of one or two dimensions here")
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    elif b.ndim == 1:
        return a @ b
    elif a.ndim == 1:
        return b @ a
    else:
        return a @ b.T


def vdot(a, b):
    if a.ndim == 1 and b.ndim == 1:
        return np.conj(a) @ b
    return np.conj(np.ravel(a)) @ np.ravel(b)


def trace(a):
    if a.ndim != 2:
        builtin.static_fail("np.trace takes an array of two dimensions here")
    s = np.sum(a[:0])
    for i in range(min(a.shape[0], a.shape[1])):
        s += a[i, i]
    return s


def norm(x):
    return np.sqrt(np.sum((np.abs(x) / 1) ** 2))


def polyval(p, x):
    value = x * 0
    for i in range(p.shape[0]):
        value = value * x + p[i]
    return value


# ------------------------------------------------------------ questions


def isin(element, test_elements):
    if element.ndim != 1 or test_elements.ndim != 1:
        builtin.static_fail("np.isin takes arrays of one dimension here")
    found = np.full(element.shape[0], False)
    for i in range(element.shape[0]):
        for j in range(test_elements.shape[0]):
            if element[i] == test_elements[j]:
                found[i] = True
    return found


def isclose(a, b, rtol=1e-05, atol=1e-08):
    x, y = a / 1, b / 1
    return (x == y) | (np.isfinite(y) & (np.abs(x - y) <= atol + rtol * np.abs(y)))


def allclose(a, b, rtol=1e-05, atol=1e-08):
    return np.all(np.isclose(a, b, rtol, atol))
