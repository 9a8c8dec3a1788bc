"""Updates that are computed in a wider type than the element they update: y32[0] += x64[i].

The operand must not be rounded to the element's type first: beyond its range it would be infinite.
"""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import BACKENDS, run

N = 3000
PAIRS = [
    ("float32", "float64"),
    ("float16", "float32"),
    ("float16", "float64"),
    ("complex64", "complex128"),
    ("float32", "int64"),
]


@parpy.jit
def total(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        y[0] += x[i]


@parpy.jit
def product(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        y[0] *= x[i]


@parpy.jit
def rows(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        parpy.label("j")
        for j in range(x.shape[1]):
            y[i] = y[i] - x[i, j]


@parpy.jit
def scattered(x, k, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        y[k[i]] += x[i]


@parpy.jit
def some(x, n, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        if x[i] != 0:
            y[n] += x[i]


def largest(dtype: str) -> float:
    return float(np.finfo(dtype).max)


def operands(narrow: str, wide: str, n: int = N) -> tuple[np.ndarray, np.ndarray]:
    """The first operand exceeds the range of `narrow`, the sum of all does not."""
    if wide == "int64":
        x = np.random.default_rng(7).integers(-(2**62), 2**62, n)
    else:
        x = np.zeros(n, wide)
        x[n // 3] = largest(narrow) * 1.25
        x[n // 2] = -largest(narrow) * 0.5
    return x, np.array([-largest(narrow) * 0.5, 0], narrow)


def relative(narrow: str) -> float:
    return 4 * float(np.finfo(narrow).eps)


@pytest.mark.parametrize(("narrow", "wide"), PAIRS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_sums_into_one_element(backend, narrow, wide):
    x, y = operands(narrow, wide)
    want = (y[:1].astype(np.result_type(narrow, wide)) + x.sum()).astype(narrow)
    run(backend, total, (x, y), {"i": 256})
    np.testing.assert_allclose(y[:1], want, rtol=relative(narrow))


@pytest.mark.parametrize("backend", BACKENDS)
def test_sums_that_need_not_touch_their_element(backend):
    x, y = operands("float32", "float64")
    want = np.float32(y[0] + x.sum())
    run(backend, some, (x, 0, y), {"i": 256})
    np.testing.assert_allclose(y[0], want, rtol=1e-6)
    before = y.copy()
    run(backend, some, (np.zeros(N), 1, y), {"i": 256})
    np.testing.assert_array_equal(y, before)


@pytest.mark.parametrize("backend", BACKENDS)
def test_products_into_one_element(backend):
    x = np.ones(N)
    x[5], x[9] = 1e60, 1e-31  # 1e60 is infinite in float32, 1e-30 times that is not
    y = np.array([1e-30], "float32")
    run(backend, product, (x, y), {"i": 256})
    np.testing.assert_allclose(y, 0.1, rtol=1e-6)


@pytest.mark.parametrize(("narrow", "wide"), PAIRS)
@pytest.mark.parametrize("mapping", [{"i": 64}, {"i": 64, "j": 64}, {"j": 64}])
@pytest.mark.parametrize("backend", BACKENDS)
def test_sums_into_rows(backend, narrow, wide, mapping):
    x, _ = operands(narrow, wide, 400)
    y = np.full(5, largest(narrow) * 0.5, narrow)
    want = (y.astype(np.result_type(narrow, wide)) - x.sum()).astype(narrow)
    run(backend, rows, (np.stack([x] * 5), y), mapping)
    np.testing.assert_allclose(y, want, rtol=relative(narrow))


@pytest.mark.parametrize(("narrow", "wide"), [pair for pair in PAIRS if pair[0] != "complex64"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_atomic_sums(backend, narrow, wide):
    """Each sum has one large operand, so that it stays in range in any order."""
    k = np.arange(N) % 7
    x = np.where(np.arange(N) < 7, 0, k - 3).astype(wide)
    if wide != "int64":
        x[:7] = largest(narrow) * 1.25
    y = np.full(7, -largest(narrow) * 0.75, narrow)
    want = np.full(7, largest(narrow) * 0.5, narrow) if wide != "int64" else y
    run(backend, scattered, (x, k, y), {"i": 256})
    np.testing.assert_allclose(y, want, rtol=0.05 if narrow == "float16" else 1e-6)


@pytest.mark.parametrize("count", [0, 1, 7, 32, 1000, 100000])
@pytest.mark.parametrize("mapped", [False, True])
def test_sums_of_negative_zeros_are_negative(count, mapped):
    """Sums of negative zeros keep their sign in any division; sums of slices start from 0.0, as in NumPy."""

    @parpy.jit
    def f(y, x, n):
        parpy.label("i")
        for i in range(n):
            y[0] += x[i]
        s = -0.0
        for i in range(n):
            s += x[i]
        y[1] = s
        y[2] = np.sum(x[:])

    x = np.full(count, -0.0)
    expected, found = np.full(3, -0.0), np.full(3, -0.0)
    f(expected, x, count, seq=True)
    if mapped:
        f(found, x, count, opts=parpy.par({"i": parpy.threads(64).reduce()}))
    else:
        f(found, x, count)
    assert np.signbit(found).tolist() == np.signbit(expected).tolist()
