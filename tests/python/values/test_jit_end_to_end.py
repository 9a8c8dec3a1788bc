"""Whole programs on every back end: against NumPy, and against the same function run by Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

import parpy
from backends import BACKENDS, run
from parpy import threads

pytestmark = pytest.mark.parametrize("backend", BACKENDS)


def check(backend, function, arguments, written, mapping, rtol=1e-12, **tolerances):
    """Checks that `function` computes Python's results on copies of `arguments`; `written` are the results' places."""
    expected = [np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments]
    actual = [np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments]
    function(*expected, seq=True)
    run(backend, function, tuple(actual), mapping)
    for i, (got, want) in enumerate(zip(actual, expected, strict=True)):
        if i in written:
            np.testing.assert_allclose(got, want, rtol=rtol, **tolerances)
        elif isinstance(got, np.ndarray):
            np.testing.assert_array_equal(got, arguments[i])
    return actual


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@parpy.jit
def axpy(a, x, y, n):
    parpy.label("i")
    for i in range(n):
        y[i] = a * x[i] + y[i]


@pytest.mark.parametrize("n", [0, 1, 100, 1025])
def test_axpy(backend, rng, n):
    check(backend, axpy, [1.5, rng.random(n), rng.random(n), n], {2}, {"i": 128})


@parpy.jit
def sum_rows(x, y):
    n, m = x.shape
    parpy.label("i")
    for i in range(n):
        y[i] = 0.0
        parpy.label("j")
        for j in range(m):
            y[i] += x[i, j]


@pytest.mark.parametrize("order", ["C", "F"])
def test_row_sums(backend, rng, order):
    x = np.asarray(rng.random((19, 37)), order=order)
    got = check(backend, sum_rows, [x, np.zeros(19)], {1}, {"i": 19, "j": threads(32).reduce()})
    np.testing.assert_allclose(got[1], x.sum(axis=1), rtol=1e-12)


@parpy.jit
def softmax(x, out):
    n, m = x.shape
    parpy.label("i")
    for i in range(n):
        top = x[i, 0]
        parpy.label("j")
        for j in range(m):
            top = max(top, x[i, j])
        total = 0.0
        parpy.label("j")
        for j in range(m):
            out[i, j] = np.exp(x[i, j] - top)
            total += out[i, j]
        parpy.label("k")
        for j in range(m):
            out[i, j] /= total


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_softmax(backend, rng, dtype):
    x = rng.standard_normal((17, 65)).astype(dtype)
    mapping = {"i": 17, "j": threads(64).reduce(), "k": 64}
    rtol = 1e-5 if dtype == "f4" else 1e-12
    got = check(backend, softmax, [x, np.zeros_like(x)], {1}, mapping, rtol=rtol)
    np.testing.assert_allclose(got[1].sum(axis=1), 1, rtol=rtol)


@parpy.jit
def jacobi(a, b, steps):
    n, m = a.shape
    for _ in range(steps):
        parpy.label("i")
        for i in range(1, n - 1):
            parpy.label("j")
            for j in range(1, m - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
        parpy.label("i")
        for i in range(1, n - 1):
            parpy.label("j")
            for j in range(1, m - 1):
                a[i, j] = 0.2 * (b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i + 1, j] + b[i - 1, j])


def test_jacobi(backend, rng):
    a = rng.random((14, 21))
    check(backend, jacobi, [a, a.copy(), 4], {0, 1}, {"i": 12, "j": 32})


@parpy.jit
def spmv(start, column, value, x, y):
    parpy.label("i")
    for i in range(len(y)):
        total = 0.0
        for k in range(start[i], start[i + 1]):
            total += value[k] * x[column[k]]
        y[i] = total


@pytest.mark.parametrize("index", ["i4", "i8", "u4"])
def test_spmv(backend, rng, index):
    counts = rng.integers(0, 6, 40)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(index)
    column = rng.integers(0, 40, start[-1]).astype(index)
    check(backend, spmv, [start, column, rng.random(start[-1]), rng.random(40), np.zeros(40)], {4}, {"i": 64})


@parpy.jit
def escape(zr, zi, counts, limit):
    h, w = counts.shape
    parpy.label("y")
    for y in range(h):
        parpy.label("x")
        for x in range(w):
            cr = zr[y, x]
            ci = zi[y, x]
            r = 0.0
            i = 0.0
            n = 0
            while n < limit:
                if r * r + i * i > 4.0:
                    break
                r, i = r * r - i * i + cr, 2.0 * r * i + ci
                n += 1
            counts[y, x] = n


def test_escape_times(backend):
    real, imaginary = np.meshgrid(np.linspace(-2, 1, 23), np.linspace(-1.1, 1.1, 17))
    counts = np.zeros(real.shape, np.int32)
    check(backend, escape, [real, imaginary, counts, 40], {2}, {"y": 17, "x": 32})


@parpy.jit
def collatz(starts, lengths):
    parpy.label("i")
    for i in range(len(starts)):
        n = starts[i]
        length = 0
        while True:
            if n == 1:
                break
            length += 1
            if n % 2 == 1:
                n = 3 * n + 1
                continue
            n //= 2
        lengths[i] = length


def test_while_with_break_and_continue(backend):
    starts = np.arange(1, 60)
    check(backend, collatz, [starts, np.zeros_like(starts)], {1}, {"i": 64})


@parpy.jit
def clamp(x, low, high):
    if x < low:
        return low
    return high if x > high else x


@parpy.jit
def norm(x, n):
    total = 0.0
    for i in range(n):
        total += x[i] ** 2
    return math.sqrt(total)


@parpy.jit
def clamp_rows(x, out):
    n, m = x.shape
    parpy.label("i")
    for i in range(n):
        for j in range(m):
            out[i, j] = clamp(x[i, j], LOW, HIGH)


LOW, HIGH = -0.5, 0.75


def test_helpers_and_globals(backend, rng):
    x = rng.standard_normal((9, 8))
    got = check(backend, clamp_rows, [x, np.zeros_like(x)], {1}, {"i": 32})
    np.testing.assert_array_equal(got[1], np.clip(x, LOW, HIGH))


TABLE = np.array([3.0, 1.0, 4.0, 1.0, 5.0])


@parpy.jit
def look_up(index, out):
    parpy.label("i")
    for i in range(len(index)):
        out[i] = TABLE[index[i]] + TABLE[-1]


def test_captured_arrays(backend):
    index = np.array([4, 0, 2, 1])
    got = check(backend, look_up, [index, np.zeros(4)], {1}, {"i": 32})
    np.testing.assert_array_equal(got[1], TABLE[index] + 5)


@parpy.jit
def products(a, b, c):
    n, m = c.shape
    parpy.label("i")
    for i in range(n):
        parpy.label("j")
        for j in range(m):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total


def test_matrix_product(backend, rng):
    a, b = rng.random((7, 9)), rng.random((9, 11))
    got = check(backend, products, [a, b, np.zeros((7, 11))], {2}, {"i": 7, "j": 32})
    np.testing.assert_allclose(got[2], a @ b, rtol=1e-12)


@parpy.jit
def histogram(x, bins, n):
    with parpy.gpu:
        for i in range(n):
            bins[x[i]] += 1


def test_sequential_code_on_the_gpu(backend, rng):
    x = rng.integers(0, 5, 30)
    got = check(backend, histogram, [x, np.zeros(5, np.int64), 30], {1}, {})
    np.testing.assert_array_equal(got[1], np.bincount(x, minlength=5))


@parpy.jit
def mirrored(x, y, out):
    parpy.label("i")
    for i in range(len(x) - 1, -1, -2):
        out[i] = x[i] - y[-1 - i]


@pytest.mark.parametrize("n", [1, 2, 15, 64])
def test_negative_steps_and_indices(backend, rng, n):
    check(backend, mirrored, [rng.random(n), rng.random(n), np.zeros(n)], {2}, {"i": 32})
