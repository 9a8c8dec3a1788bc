"""NumPy functions as loops. Each has NumPy's name, parameters and results, for arrays of the numbers of dimensions that
it accepts. The compiler compiles their text in place of calls of NumPy; Python never runs them."""

from __future__ import annotations

# mypy: ignore-errors
import math

import numpy as np

from .. import builtin
from .order import insertion

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
    if a.shape[0] > 0:
        value = a[0]
        for i in range(1, a.shape[0]):
            value = np.maximum(value, a[i])
            largest[i] = value
    return largest


def running_minimum(a):
    smallest = a.copy()
    if a.shape[0] > 0:
        value = a[0]
        for i in range(1, a.shape[0]):
            value = np.minimum(value, a[i])
            smallest[i] = value
    return smallest


def diff(a):
    if a.ndim != 1:
        builtin.static_fail("np.diff takes an array of one dimension here: write a[:, 1:] - a[:, :-1]")
    return a[1:] - a[:-1]


def gradient(f):
    if f.ndim < 1 or f.ndim > 3:
        builtin.static_fail("np.gradient takes an array of one to three dimensions here")
    if f.shape[0] < 2 or f.shape[f.ndim // 2] < 2 or f.shape[-1] < 2:
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
    if f.ndim == 2:
        return slopes, across
    inward = f / 1
    inward[:, :, 0] = f[:, :, 1] - f[:, :, 0]
    inward[:, :, 1:-1] = (f[:, :, 2:] - f[:, :, :-2]) / 2
    inward[:, :, -1] = f[:, :, -1] - f[:, :, -2]
    return slopes, across, inward


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
    kind = 0 * start_or_stop + 0 * stop + 0 * step
    if (
        builtin.static_types_eq(kind, np.float64)
        or builtin.static_types_eq(kind, np.float32)
        or builtin.static_types_eq(kind, np.float16)
    ):
        distance = (start_or_stop + step) - start_or_stop
        length = (stop - start_or_stop) / step
        if not np.isfinite(length):
            raise ValueError("the length of np.arange is infinite or NaN")
        made = np.full(max(math.ceil(length), 0), kind)
        for i in range(made.shape[0]):
            made[i] = start_or_stop + i * distance
        return made
    return integers_at_distances(np.int64(start_or_stop), np.int64(stop), np.int64(step))


def integers_at_distances(start, stop, step):
    if step == 0:
        raise ZeroDivisionError("division by zero")
    made = np.empty(max(-((start - stop) // step), 0), dtype=np.int64)
    for i in range(made.shape[0]):
        made[i] = start + i * step
    return made


def numbers_of_range(start, stop):
    count = max(stop - start, 0)
    made = np.empty(count, dtype=np.int64)
    for i in range(count):
        made[i] = start + i
    return made


def linspace(start, stop, num=50):
    distance = (stop - start) / max(num - 1, 1)
    made = np.full(num, 0 * ((stop - start) / 1.0))
    for i in range(num):
        made[i] = i * distance + start
    if num > 1:
        made[num - 1] = stop
    return made


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


def fliplr(m):
    if m.ndim < 2:
        builtin.static_fail("np.fliplr takes an array of two or more dimensions")
    return m[:, ::-1]


def take(a, indices):
    if a.ndim != 1:
        builtin.static_fail("np.take takes an array of one dimension here")
    return a[indices]


def delete(arr, obj):
    if arr.ndim != 1 or obj.ndim != 0:
        builtin.static_fail("np.delete takes an array of one dimension and the place of an element here")
    n = arr.shape[0]
    if obj < -n or obj >= n:
        raise IndexError("index is out of bounds")
    k = obj % n
    left = np.empty(n - 1, dtype=arr.dtype)
    left[:k] = arr[:k]
    left[k:] = arr[k + 1 :]
    return left


def diag(v):
    if v.ndim != 1:
        builtin.static_fail("np.diag takes an array of one dimension here")
    made = np.zeros((v.shape[0], v.shape[0]), dtype=v.dtype)
    for i in range(v.shape[0]):
        made[i, i] = v[i]
    return made


# ------------------------------------------------------------ functions of distances


def interpolated(x, xp, fp):
    """The value of a piecewise linear function at a number."""
    n = xp.shape[0]
    if n == 0:
        raise ValueError("array of sample points is empty")
    value = fp[n - 1] / 1
    k = insertion(xp, x, "right") - 1
    if x != x:
        value = x / 1
    elif k < 0:
        value = fp[0] / 1
    elif k < n - 1:
        slope = (fp[k + 1] - fp[k]) / (xp[k + 1] - xp[k])
        value = slope * (x - xp[k]) + fp[k]
        if xp[k] == x:
            value = fp[k] / 1
        elif value != value:
            value = slope * (x - xp[k + 1]) + fp[k + 1]
            if value != value and fp[k] == fp[k + 1]:
                value = fp[k] / 1
    return value


def interp(x, xp, fp):
    if x.ndim > 1:
        builtin.static_fail("np.interp takes numbers and arrays of one dimension here")
    if x.ndim == 1:
        values = np.empty(x.shape[0])
        for i in range(x.shape[0]):
            values[i] = np.interp(x[i], xp, fp)
        return values
    return interpolated(x, xp, fp)


def convolve(a, v, mode="full"):
    if a.ndim != 1 or v.ndim != 1:
        builtin.static_fail("np.convolve takes arrays of one dimension")
    n, m = a.shape[0], v.shape[0]
    if n == 0 or m == 0:
        raise ValueError("a and v cannot be empty")
    begin, count = 0, n + m - 1
    if mode == "same":
        begin, count = (min(n, m) - 1) // 2, max(n, m)
    elif mode == "valid":
        begin, count = min(n, m) - 1, max(n, m) - min(n, m) + 1
    elif mode != "full":
        raise ValueError("mode must be one of 'valid', 'same', or 'full'")
    made = np.full(count, 0 * a[0] * v[0])
    for k in range(count):
        for i in range(max(begin + k - m + 1, 0), min(begin + k + 1, n)):
            made[k] += a[i] * v[begin + k - i]
    return made


# ------------------------------------------------------------ products and sums


def average(a, weights=None):
    if weights is None:
        return np.mean(a)
    else:
        if a.ndim != weights.ndim:
            builtin.static_fail("np.average takes as many weights as elements here")
        total = np.sum(weights)
        if total == 0:
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        return np.sum(a * weights) / total


def kron(a, b):
    if a.ndim != 2 or b.ndim != 2:
        builtin.static_fail("np.kron takes arrays of two dimensions here")
    p, q = b.shape[0], b.shape[1]
    made = np.empty((a.shape[0] * b.shape[0], a.shape[1] * b.shape[1]), dtype=np.result_type(a, b))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(p):
                for m in range(q):
                    made[i * p + k, j * q + m] = a[i, j] * b[k, m]
    return made


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
    """The sums of products over the last dimensions of both operands."""
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


def norm(x, ord=None):
    if ord is None:
        return np.sqrt(np.sum((np.abs(x) / 1) ** 2))
    else:
        if x.ndim != 1:
            builtin.static_fail("np.linalg.norm takes an order for arrays of one dimension here")
        sizes = np.abs(x) / 1
        if ord == np.inf:
            return np.max(sizes)
        elif ord == -np.inf:
            return np.min(sizes)
        elif ord == 1:
            return np.sum(sizes)
        elif ord == 2:
            return np.sqrt(np.sum(sizes**2))
        elif ord == 0:
            return np.sum(np.where(sizes != 0, 1 + 0 * sizes, 0 * sizes))
        else:
            return np.sum(sizes**ord) ** (1 / ord)


def norm_along(x, *, axis):
    if x.ndim != 2:
        builtin.static_fail("np.linalg.norm takes an axis of arrays of two dimensions here")
    if axis == 0 or axis == -2:
        return np.sqrt(np.sum((np.abs(x) / 1) ** 2, axis=0))
    elif axis == 1 or axis == -1:
        return np.sqrt(np.sum((np.abs(x) / 1) ** 2, axis=1))
    else:
        raise np.exceptions.AxisError("the axis of np.linalg.norm is out of bounds")


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
