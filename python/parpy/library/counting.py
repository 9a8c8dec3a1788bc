"""NumPy functions that count elements or find their places, in the compiled language. Python never runs
them."""

from __future__ import annotations

# mypy: ignore-errors
import numpy as np

from .. import builtin


def bincount(x, weights=None, minlength=0):
    """With weights the result has floats, even for an empty array, for which NumPy's has integers."""
    if x.ndim != 1:
        builtin.static_fail("np.bincount takes an array of one dimension here")
    if x.dtype == np.float16 or x.dtype == np.float32 or x.dtype == np.float64 or x.dtype == np.uint64:
        builtin.static_fail("np.bincount takes integers that int64 can hold; 'x.astype(np.int64)' converts others")
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    n = np.int64(minlength)
    for v in x:
        if v < 0:
            raise ValueError("'list' argument must have no negative elements")
        n = max(n, np.int64(v) + 1)
    if weights is None:
        counts = np.zeros(n, dtype=np.int64)
        for v in x:
            counts[np.int64(v)] += 1
        return counts
    else:
        if weights.dtype == np.complex64 or weights.dtype == np.complex128:
            builtin.static_fail("np.bincount takes real weights; 'weights.real' is one part")
        if x.shape[0] > 0 and weights.shape[0] != x.shape[0]:
            raise ValueError("The weights and list don't have the same length.")
        sums = np.zeros(n)
        for i in range(x.shape[0]):
            sums[np.int64(x[i])] += weights[i]
        return sums


def histogram(a, bins=10, range=None, weights=None):
    if bins.ndim == 1:
        if weights is not None:
            builtin.static_fail("np.histogram takes weights with a number of bins here")
        return histogram_of_edges(a, bins)
    elif weights is None:
        if a.ndim == 1:
            return histogram_of_number(a, bins, range, None)
        else:
            return histogram_of_number(np.ravel(a), bins, range, None)
    else:
        if weights.ndim != a.ndim:
            builtin.static_fail("np.histogram takes weights of the shape of the elements")
        if weights.shape != a.shape:
            raise ValueError("weights should have the same shape as a.")
        if a.ndim == 1:
            return histogram_of_number(a, bins, range, weights)
        else:
            return histogram_of_number(np.ravel(a), bins, range, np.ravel(weights))


def histogram_of_edges(a, bins):
    n = bins.shape[0] - 1
    for i in range(n):
        if bins[i] > bins[i + 1]:
            raise ValueError("`bins` must increase monotonically, when an array")
    counts = np.zeros(n, dtype=np.int64)
    for v in np.ravel(a):
        if v >= bins[0] and v <= bins[n]:
            counts[min(np.searchsorted(bins, v, "right"), n) - 1] += 1
    return counts, bins


def histogram_density(a, bins=10, range=None, weights=None, density=True):
    counts, edges = np.histogram(a, bins, range, weights)
    return counts / np.diff(edges).astype(np.float64) / counts.sum(), edges


def histogram_of_number(x, bins, limits, weights):
    if x.dtype == np.bool_ or x.dtype == np.float16 or x.dtype == np.complex64 or x.dtype == np.complex128:
        builtin.static_fail("np.histogram takes real numbers here, but no bool and no float16")
    if bins < 1:
        raise ValueError("`bins` must be positive, when an integer")
    if x.dtype != np.float32:
        edges = np.empty(bins + 1)
    elif limits is None:
        edges = np.empty(bins + 1, dtype=np.float32)
    else:
        edges = np.full(bins + 1, np.float32(0) * (limits[0] + limits[1]))
    if limits is not None:
        if limits[0] > limits[1]:
            raise ValueError("max must be larger than min in range parameter.")
        if not (np.isfinite(limits[0]) and np.isfinite(limits[1])):
            raise ValueError(f"supplied range of [{limits[0]}, {limits[1]}] is not finite")
        set_edges(edges, limits[0] / 1, limits[1] / 1, bins)
    elif x.shape[0] == 0:
        set_edges(edges, 0.0, 1.0, bins)
    else:
        first, last = x[0], x[0]
        for v in x:
            first, last = np.minimum(first, v), np.maximum(last, v)
        if not (np.isfinite(first) and np.isfinite(last)):
            raise ValueError(f"autodetected range of [{first}, {last}] is not finite")
        set_edges(edges, first / 1, last / 1, bins)
    if weights is None:
        counts = np.zeros(bins, dtype=np.int64)
        for v in x:
            k = bin_of(v, edges, bins)
            if k >= 0:
                counts[k] += 1
        return counts, edges
    else:
        return weighted_histogram(x, weights, bins, edges), edges


def set_edges(edges, first, last, bins):
    """Stores the edges of bins of equal width, computed in the type of the first and the last one."""
    if first == last:
        first, last = first - 0.5, last + 0.5
    step = (last - first) / bins
    for k in range(bins):
        edges[k] = k / bins * (last - first) + first if step == 0 else k * step + first
    edges[bins] = last
    for k in range(bins):
        if edges[k] >= edges[k + 1]:
            raise ValueError(f"Too many bins for data range. Cannot create {bins} finite-sized bins.")


def bin_of(v, edges, bins):
    """The bin of an element, which follows from its distance to the first edge, corrected if rounding leads to a
    neighbour; -1 outside of all bins."""
    first, last = edges[0], edges[bins]
    if v >= first and v <= last:
        k = min(int((v - first) / (last - first) * bins), bins - 1)
        if v < edges[k]:
            k -= 1
        elif v >= edges[k + 1] and k != bins - 1:
            k += 1
        return k
    return -1


def weighted_histogram(x, weights, bins, edges):
    """The sums of blocks of elements are added up, as NumPy adds them."""
    if weights.dtype == np.bool_ or weights.dtype == np.complex64 or weights.dtype == np.complex128:
        builtin.static_fail("np.histogram takes weights that are real numbers, but no bool")
    sums, part = np.zeros(bins, dtype=weights.dtype), np.zeros(bins)
    for begin in range(0, x.shape[0], 65536):
        part[:] = 0
        for i in range(begin, min(begin + 65536, x.shape[0])):
            k = bin_of(x[i], edges, bins)
            if k >= 0:
                part[k] += weights[i]
        sums += part.astype(weights.dtype)
    return sums


def digitize(x, bins, right=False):
    if x.ndim > 1:
        builtin.static_fail("np.digitize takes numbers and arrays of one dimension here")
    n = bins.shape[0]
    if n > 1 and bins[0] > bins[n - 1]:
        ascending = bins[::-1]
        if right:
            return n - np.searchsorted(ascending, x, side="right")
        else:
            return n - np.searchsorted(ascending, x, side="left")
    if right:
        return np.searchsorted(bins, x, side="left")
    else:
        return np.searchsorted(bins, x, side="right")


def flatnonzero(a):
    x = np.ravel(a)
    places = np.empty(x.shape[0], dtype=np.int64)
    count = 0
    for i in range(x.shape[0]):
        if x[i] != 0:
            places[count] = i
            count += 1
    return places[:count]


def nonzero(a):
    places = np.flatnonzero(a)
    if a.ndim == 1:
        return (places,)
    elif a.ndim == 2:
        return places // a.shape[1], places % a.shape[1]
    else:
        builtin.static_fail("np.nonzero takes arrays of one or two dimensions here")


def is_new(s, i):
    """Whether the element differs from the one before it in sorted order; NaNs do not differ from each other."""
    return i == 0 or (s[i] != s[i - 1] and (s[i] == s[i] or s[i - 1] == s[i - 1]))


def unique(ar):
    """The sorted elements without repetitions; one NaN is kept."""
    s = np.sort(np.ravel(ar))
    count = 0
    for i in range(s.shape[0]):
        if is_new(s, i):
            s[count] = s[i]
            count += 1
    return s[:count]


def unique_counts(ar, return_counts):
    s = np.sort(np.ravel(ar))
    counts = np.zeros(s.shape[0], dtype=np.int64)
    count = 0
    for i in range(s.shape[0]):
        if is_new(s, i):
            s[count] = s[i]
            count += 1
        counts[count - 1] += 1
    return s[:count], counts[:count]


def unique_index(ar, return_index):
    x = np.ravel(ar)
    places = np.argsort(x)
    s = x[places]
    count = 0
    for i in range(s.shape[0]):
        if is_new(s, i):
            s[count] = s[i]
            places[count] = places[i]
            count += 1
    return s[:count], places[:count]


def unique_inverse(ar, return_inverse):
    if ar.ndim != 1:
        builtin.static_fail("np.unique with return_inverse takes an array of one dimension here")
    places = np.argsort(ar)
    s = ar[places]
    inverse = np.empty(s.shape[0], dtype=np.int64)
    count = 0
    for i in range(s.shape[0]):
        if is_new(s, i):
            s[count] = s[i]
            count += 1
        inverse[places[i]] = count - 1
    return s[:count], inverse


def array_equal(a1, a2):
    if a1.ndim != a2.ndim:
        return False
    x, y = np.ravel(a1), np.ravel(a2)
    same = True
    for k in range(a1.ndim):
        same = same and a1.shape[k] == a2.shape[k]
    if same:
        for i in range(x.shape[0]):
            same = same and x[i] == y[i]
    return same
