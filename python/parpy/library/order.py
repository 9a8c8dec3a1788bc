"""NumPy functions about the order of elements, in the compiled language. Python never runs them."""

from __future__ import annotations

# mypy: ignore-errors
import numpy as np

from .. import builtin
from ..calls.options import CompileBackend

SHORT = 4096  # elements that one thread of a GPU may select from


def argmax(a):
    if a.shape[0] == 0:
        raise ValueError("attempt to get argmax of an empty sequence")
    best = a.shape[0]
    if a.ndim == 1:  # two reductions, which run in parallel and as vectors
        value = np.max(a)
        for i in range(a.shape[0]):
            if a[i] == value or a[i] != a[i]:
                best = min(best, i)
    else:
        x = np.ravel(a)
        best = int(np.argmax(x))
    return np.int64(best)


def argmin(a):
    if a.shape[0] == 0:
        raise ValueError("attempt to get argmin of an empty sequence")
    best = a.shape[0]
    if a.ndim == 1:  # two reductions, which run in parallel and as vectors
        value = np.min(a)
        for i in range(a.shape[0]):
            if a[i] == value or a[i] != a[i]:
                best = min(best, i)
    else:
        x = np.ravel(a)
        best = int(np.argmin(x))
    return np.int64(best)


def sort(a):
    """Merge sort with runs whose length doubles in each pass. It is stable, and NaN comes last."""
    if a.ndim == 2:
        done = np.sort(a, axis=1)
    elif a.ndim != 1:
        builtin.static_fail("np.sort takes arrays of one or two dimensions here: loop over the others")
    else:
        n = a.shape[0]
        done, merged = a.copy(), a.copy()
        width = 1
        while width < n:
            if builtin.static_backend_eq(CompileBackend.Cuda):
                for k in range(n):
                    merged[k] = done[builtin.inline(merged_place(done, k, width))]
            else:
                merge_runs(done, merged, width, 0)
            done[:] = merged
            width *= 2
    return done


def argsort(a):
    """Merge sort of the places together with the elements, since reading elements through places would take longer."""
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
        if builtin.static_backend_eq(CompileBackend.Cuda):
            values, merged_values = a.copy(), a.copy()
            while width < n:
                for k in range(n):
                    place = builtin.inline(merged_place(values, k, width))
                    merged_values[k] = values[place]
                    merged[k] = done[place]
                values[:] = merged_values
                done[:] = merged
                width *= 2
        else:
            while width < n:
                merge_runs(done, merged, width, a)
                done[:] = merged
                width *= 2
    return done


def merge_runs(done, merged, width, a):
    """Merges neighbouring runs of `width` elements of `done`: numbers, or places in `a` if this is an array."""
    n = done.shape[0]
    for first in range(0, n, 2 * width):
        middle, last = min(first + width, n), min(first + 2 * width, n)
        i, j = first, middle
        for k in range(first, last):
            take = j >= last
            if i < middle and j < last:
                take = not precedes(meant(a, done[j]), meant(a, done[i]))
            if take:
                merged[k] = done[i]
                i += 1
            else:
                merged[k] = done[j]
                j += 1


def meant(a, x):
    return x if a.ndim == 0 else a[x]


def merged_place(s, k, width):
    """The place in `s`, which has sorted runs of `width` elements, of the element that comes to place `k` when
    neighbouring runs are merged. Each place is found by itself, for threads of a GPU (merge path: Green, McColl, Bader,
    GPU Merge Path, ICS 2012)."""
    n = s.shape[0]
    first = k // (2 * width) * (2 * width)
    middle, last = min(first + width, n), min(first + 2 * width, n)
    before = k - first  # elements of both runs
    low, high = max(0, before - (last - middle)), min(before, middle - first)
    while low < high:  # how many of them belong to the first run
        some = (low + high) // 2
        if precedes(s[middle + before - 1 - some], s[first + some]):
            high = some
        else:
            low = some + 1
    place = middle + before - low
    if first + low < middle and (place >= last or not precedes(s[place], s[first + low])):
        place = first + low
    return place


def is_complex(a):
    return builtin.static_types_eq(a, np.complex128) or builtin.static_types_eq(a, np.complex64)


def precedes(a, b):
    """Whether np.sort puts the number `a` before `b`. NaN comes last; complex numbers with a NaN in their imaginary
    part come before those with one in their real part."""
    if not is_complex(a):
        before = a < b or (b != b and a == a)
    elif (a.real != a.real) != (b.real != b.real):
        before = b.real != b.real
    elif (a.imag != a.imag) != (b.imag != b.imag):
        before = b.imag != b.imag
    else:
        before = a.real < b.real or (a.imag < b.imag and not b.real < a.real)
    return before


def sort_in_place(a):
    if a.ndim == 1 and is_complex(a):
        a[:] = np.sort(a)
    elif a.ndim == 1:
        quicksort(a)
    elif a.ndim == 2:
        for i in range(a.shape[0]):
            quicksort(a[i])
    else:
        builtin.static_fail("the method sort takes arrays of one or two dimensions here: loop over the others")


def quicksort(s):
    """Sorts in place. The only memory is a stack with the bounds of pending parts, to which the larger part is pushed.
    NaN comes last. Short parts are sorted by insertion."""
    n = without_nan_at_its_end(s)
    begins, ends = np.empty(64, dtype=np.int64), np.empty(64, dtype=np.int64)
    waiting = 0
    low, high = 0, n - 1
    while True:
        while high - low > 15:
            i, j = divided(s, low, high)
            if j - low > high - i:
                begins[waiting], ends[waiting] = low, j
                low = i
            else:
                begins[waiting], ends[waiting] = i, high
                high = j
            waiting += 1
        if waiting == 0:
            break
        waiting -= 1
        low, high = begins[waiting], ends[waiting]
    for k in range(1, n):
        v = s[k]
        place = k
        while place > 0 and v < s[place - 1]:
            s[place] = s[place - 1]
            place -= 1
        s[place] = v


def without_nan_at_its_end(s):
    """Moves NaN to the end, and returns the number of the other elements."""
    n, k = s.shape[0], 0
    while k < n:
        v = s[k]
        if v != v:
            n -= 1
            s[k] = s[n]
            s[n] = v
        else:
            k += 1
    return n


def divided(s, low, high):
    """Partitions s[low : high + 1] by the median of three elements. Returns the start of the part with elements not
    below this pivot, and the last place of the part before it with elements not above the pivot."""
    part = (high - low) // 4
    first, pivot, last = s[low + part], s[low + 2 * part], s[high - part]
    if last < first:
        first, last = last, first
    pivot = min(max(pivot, first), last)
    i, j = low, high
    while i <= j:
        while s[i] < pivot:
            i += 1
        while pivot < s[j]:
            j -= 1
        if i <= j:
            left = s[i]
            s[i] = s[j]
            s[j] = left
            i += 1
            j -= 1
    return i, j


def select(s, k):
    """Moves the elements, of which none is NaN, so that s[k] is the element that sorting would put there, with no
    larger element before it and no smaller element after it."""
    low, high = 0, s.shape[0] - 1
    while low < high:
        i, j = divided(s, low, high)
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            low = high


def any_nan(s):
    return np.any(s != s)


def median(a):
    """The median, which is NaN for an empty array, as in NumPy (without NumPy's warning)."""
    middle = np.sum(a[:0]) / 1 * np.nan
    if a.ndim == 1:
        n = a.shape[0]
        s = a.copy()
        if any_nan(a):
            middle = middle + np.nan
        elif n > 0:
            if builtin.static_backend_eq(CompileBackend.Cuda) and n > SHORT:
                s[:] = np.sort(a)  # many threads do
            else:
                select(s, n // 2)
            upper = s[n // 2]
            lower = upper
            if n % 2 == 0:
                lower = s[0]
                for i in range(n // 2):
                    lower = max(lower, s[i])
            middle = (lower / 1 + upper / 1) / 2
    else:
        x = np.ravel(a)
        middle = np.median(x)
    return middle


def quantile(a, q):
    """Interpolates between the two nearest elements by NumPy's formula for its method `linear`."""
    if a.ndim != 1:
        builtin.static_fail("np.quantile takes an array of one dimension here: take np.ravel of it")
    n = a.shape[0]
    if q < 0 or q > 1:
        raise ValueError("Quantiles must be in the range [0, 1]")
    if n == 0:
        raise IndexError("an array without elements has no quantile")
    s = a.copy()
    place = (n - 1) * q
    below = min(int(place), n - 1)
    t = place - below
    between = np.nan * (s[0] * q)
    if not any_nan(a):
        if builtin.static_backend_eq(CompileBackend.Cuda) and n > SHORT:
            s[:] = np.sort(a)
        else:
            select(s, below)
        low = s[below]
        high = low
        if below + 1 < n:
            high = s[below + 1]
            for i in range(below + 2, n):
                high = min(high, s[i])
        between = blended(low, high, t)
    return between


def blended(low, high, t):
    step = high - low
    return high - step * (1 - t) if t >= 0.5 else low + step * t


def percentile(a, q):
    if q < 0 or q > 100:
        raise ValueError("Percentiles must be in the range [0, 100]")
    return np.quantile(a, q / 100)


def insertion(a, v, side):
    """The place of a number in a sorted array, as `searchsorted`."""
    low, high = 0, a.shape[0]
    if side == "left":
        while low < high:
            middle = (low + high) // 2
            if precedes(a[middle], v):
                low = middle + 1
            else:
                high = middle
    elif side == "right":
        while low < high:
            middle = (low + high) // 2
            if not precedes(v, a[middle]):
                low = middle + 1
            else:
                high = middle
    else:
        raise ValueError("side must be 'left' or 'right'")
    return np.int64(low)


def searchsorted(a, v, side="left"):
    """The place before (or for side="right" after) equal elements at which the number `v` would be inserted; for an
    array `v`, the places of all its elements."""
    if v.ndim > 1:
        builtin.static_fail("np.searchsorted takes numbers and arrays of one dimension here")
    if v.ndim == 1:
        places = np.zeros(v.shape[0], np.int64)
        for i in range(v.shape[0]):
            places[i] = np.searchsorted(a, v[i], side)
        return places
    return insertion(a, v, side)
