"""NumPy's functions that are compiled in loops, and that Python calls elsewhere, against NumPy; methods that store."""

from __future__ import annotations

import re

import numpy as np
import pytest

import parpy
from backends import BACKENDS, compiled_throughout, options, run
from fresh_functions import plain_function

rng = np.random.default_rng(41)

# Expressions of x, y (one dimension, sorted), w (unsorted), A (two dimensions) and i.
EXPRESSIONS = (
    "np.array_equal(x, y)", "np.array_equal(x, x) + np.array_equal(x, A)", "np.average(w)",
    "np.average(w, weights=x + i)", "np.convolve(w, y)[i + 2]", "np.convolve(w, y[:3], mode='same')[i]",
    "np.convolve(y[:2], w, mode='valid')[i]", "np.delete(w, i)[-i - 1] + np.delete(w, -2)[0]", "np.diag(w)[i, i]",
    "np.digitize(w[i], x)", "np.digitize(w, x)[i] + np.digitize(w, x[::-1], right=True)[i]",
    "np.flatnonzero(w > 0.3).sum()", "np.flatnonzero(A > 0.3)[-1]", "np.nonzero(w > 0.2)[0].size",
    "np.nonzero(A > 0.5)[1].sum()", "np.histogram(w, 4)[0][i]", "np.histogram(w, bins=5, range=(0.2, 0.9))[1][i]",
    "np.histogram(w, x)[0][i]", "np.histogram(w, bins=x)[1][i]", "np.histogram(w, 3, density=True)[0][i]",
    "np.unique(k // 2, return_counts=True)[1][0]", "np.unique(k[::-1] // 2, return_inverse=True)[1][i]",
    "np.unique(k[::-1] // 2, return_index=True)[1][0]", "np.argsort(w, kind='stable')[i]",
    "w.argsort(kind='stable')[i]",
    "np.sort(w, kind='heapsort')[i]",
    "np.interp(w[i], x, y)", "np.interp(w * 3 - 1, x, y)[i]", "np.kron(A, A)[i, 2]", "np.take(w, k)[i]",
    "np.unique(k // 2).size", "np.unique(np.round(w, 1))[i]", "np.fliplr(A)[i, 0]",
    "np.linalg.norm(A, axis=1)[i]", "np.linalg.norm(A, axis=-2)[i]", "np.linalg.norm(w, 1)",
    "np.linalg.norm(w, ord=np.inf)", "np.linalg.norm(w, 3)", "np.var(w, ddof=1)", "np.std(A, axis=0, ddof=i)[1]",
    "w.std(ddof=2)", "np.searchsorted(x, x[i], side='right')", "np.searchsorted(x, w, 'right')[i]",
    "np.median(w[: i + 2])", "np.percentile(w[i:], 30.0)", "np.quantile(w, 0.5)",
)  # fmt: skip


def program(expression: str):
    text = f"def f(x, y, w, A, k, out):\n    for i in range(3):\n        out[i] = {expression}\n"
    return plain_function(text, f"<{expression}>")


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_as_numpy(backend, expression):
    function = program(expression)
    x, y, w = np.sort(rng.random(7)), np.sort(rng.random(7)), rng.random(7)
    given = x, y, w, rng.random((4, 3)), rng.integers(0, 7, 7)
    got, want = np.zeros(3), np.zeros(3)
    function(*given, want)
    with compiled_throughout():
        run(backend, parpy.jit(function), (*given, got), {})
    np.testing.assert_allclose(got, want, rtol=1e-12)


def counts(x, weights, smallest, out):
    for i in range(x.shape[0]):
        out[i] = np.bincount(x[i], minlength=smallest)[:9].sum() + np.bincount(x[i], weights[i]).sum()


@pytest.mark.parametrize("x", [rng.integers(0, 9, (3, 50)).astype(np.uint8), rng.random((3, 50)) < 0.5], ids=str)
@pytest.mark.parametrize("backend", BACKENDS)
def test_bincount_of_small_integers(backend, x):
    weights = rng.integers(-5, 5, x.shape).astype(np.float32)
    got, want = np.zeros(3), np.zeros(3)
    counts(x, weights, 9, want)
    with compiled_throughout():
        run(backend, parpy.jit(counts), (x, weights, 9, got), {})
    np.testing.assert_array_equal(got, want)


def counted(x, smallest):
    found = []
    for i in range(x.shape[0]):
        found.append(np.bincount(x[i], minlength=smallest))
    return found[0]


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
@pytest.mark.parametrize(
    ("x", "smallest"),
    [
        (rng.integers(0, 9, (2, 50)), 3), (rng.integers(-9, 9, (2, 50)), 3), (rng.integers(0, 9, (2, 50)), -1),
        (rng.random((2, 50)), 1), (np.zeros((2, 0), np.int64), 2), (rng.integers(0, 9, (2, 5), np.uint64), 2),
        (rng.integers(0, 9, (2, 5), np.int8), 12), (rng.integers(-9, 9, (2, 50)).astype(np.int8), 3),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("function", [counted, lambda x, n: np.bincount(x[0], minlength=n)], ids=["loop", "call"])
def test_bincount_is_numpys(function, x, smallest):
    try:
        want = function(x, smallest)
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error), match=re.escape(str(error))):
            parpy.jit(function)(x, smallest)
        return
    got = parpy.jit(function)(x, smallest)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


def largest_count(x):
    best = 0
    for i in range(x.shape[0]):
        best = max(best, np.bincount(x[i]).max())
    return best


def test_python_counts_in_loops_where_the_number_of_bins_is_unknown():
    x = rng.integers(0, 9, (3, 50))
    with pytest.warns(parpy.PerformanceWarning, match="does not make this call of 'np.bincount'"):
        assert parpy.jit(largest_count)(x) == largest_count(x)


def hard_orders():
    n = 900
    pipe = np.minimum(np.arange(n), np.arange(n)[::-1]) * 1.0
    yield from (pipe, np.arange(n) * 1.0, np.arange(n)[::-1] * 1.0, np.zeros(n), np.arange(n) % 7 * 1.0, rng.random(n))
    mixed = rng.random(60)
    mixed[::7], mixed[3], mixed[5] = np.nan, np.inf, -np.inf
    yield from (mixed, np.full(20, np.nan), np.zeros(0), np.ones(1))


def sorts(x, n):
    for i in range(n):
        x[i:].sort()
    return x


def sorts_rows(A):
    for i in range(2):
        A[i].sort()
        A[:, i].sort()
    for _ in range(1):
        A.sort()


def test_sorting_in_place():
    compiled = parpy.jit(sorts)
    for x in hard_orders():
        np.testing.assert_array_equal(compiled(x.copy(), 2), sorts(x.copy(), 2))
    np.testing.assert_array_equal(compiled(np.array([3, -1, 2]), 1), [-1, 2, 3])


@pytest.mark.parametrize("backend", BACKENDS)
def test_sorting_rows_in_place(backend):
    a = rng.random((40, 30))
    got = a.copy()
    run(backend, parpy.jit(sorts_rows), (got,), {})
    sorts_rows(a)
    np.testing.assert_array_equal(got, a)


def middles(x, out):
    for i in range(3):
        out[i] = np.median(x[i:])
        out[i + 3] = np.quantile(x[i:], 0.3)


def test_medians_of_hard_orders():
    for x in hard_orders():
        if x.size < 4:
            continue
        got, want = np.zeros(6), np.zeros(6)
        with np.errstate(all="ignore"):
            middles(x, want)
        parpy.jit(middles)(x, got)
        np.testing.assert_array_equal(got, want)


def test_sorting_takes_no_time_that_grows_with_the_square():
    """Arrays that rise and fall again, with the largest element in the middle."""
    n = 200_000
    x = np.minimum(np.arange(n), np.arange(n)[::-1]) * 1.0
    compiled = parpy.jit(sorts)
    np.testing.assert_array_equal(compiled(x.copy(), 1), np.sort(x))


def outside(x, y):
    return np.convolve(x, y), np.unique(x), np.interp(x, y, y)


@pytest.mark.parametrize("backend", ["cpu"])
def test_outside_of_loops_numpy_computes(backend):
    x, y = np.round(rng.random(50), 1), np.sort(rng.random(9))
    got = parpy.jit(outside)(x, y, opts=options(backend, {}))
    for ours, numpys in zip(got, outside(x, y), strict=True):
        np.testing.assert_array_equal(ours, numpys)  # to the last bit
