"""Values that functions return are computed by many threads of a GPU, as those that they store are."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS


def total(x):
    return x.sum()


def mean_of_positive(x):
    return x[x > 0].mean()


def several(x):
    return np.sum(x * x) / len(x), x.max(), np.argmax(x)


def length(x):
    return np.sqrt(np.sum(x * x))


def unit(x):
    return x / length(x)


def norm(x):
    return np.linalg.norm(x)


def early(x):
    if x.shape[0] < 10:
        return 0.0
    return x.min()


def in_a_loop(x):
    for k in range(3):
        if x[k] > 1e9:
            return x.sum()
    return x.max()


def largest_so_far(x):
    return np.maximum.accumulate(x)[-1]


def sorted_middle(x):
    return np.sort(x)[x.shape[0] // 2], np.median(x), np.percentile(x, 30)


def order(x):
    return np.argsort(x, kind="stable")


FUNCTIONS = [
    total,
    mean_of_positive,
    several,
    length,
    unit,
    norm,
    early,
    in_a_loop,
    largest_so_far,
    sorted_middle,
    order,
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("n", [12, 5000])
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("backend", TARGETS)
def test_values_are_those_of_numpy(backend, function, n, dtype):
    x = np.random.default_rng(n).integers(-50, 50, n).astype(dtype)
    found = parpy.jit(function)(x, opts=parpy.auto(backend=parpy.CompileBackend(backend)))
    want = function(x)
    if not isinstance(want, tuple):
        found, want = (found,), (want,)
    for a, b in zip(found, want, strict=True):
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-5 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_thread_is_alone_with_a_long_loop(function):
    x = np.random.default_rng(1).random(1_000_000)
    explained = str(parpy.explain(parpy.jit(function), x, opts=parpy.auto(backend=parpy.CompileBackend.Cuda)))
    long = [line for line in explained.splitlines() if line.endswith("sequential") and "00000" in line]
    assert not long, explained


@pytest.mark.parametrize("n", [0, 1, 2, 3, 31, 64, 100, 1000])
def test_sorting(n):
    """Runs of all lengths, equal elements, NaN and infinities, and complex numbers."""
    rng = np.random.default_rng(n)
    opts = parpy.auto(backend=parpy.CompileBackend.Sim)
    sort, argsort = (parpy.jit(f) for f in (lambda x: np.sort(x), lambda x: np.argsort(x, kind="stable")))
    special = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0], n)
    for x in (
        rng.integers(0, 7, n),
        special,
        rng.random(n)[::-1],
        rng.random(2 * n)[::2],
        special + 1j * special[::-1],
    ):
        np.testing.assert_array_equal(sort(x, opts=opts), np.sort(x))
        np.testing.assert_array_equal(argsort(x, opts=opts), np.argsort(x, kind="stable"))
