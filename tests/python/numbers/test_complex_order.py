"""The order of complex numbers is NumPy's: real parts first, then imaginary parts. Functions of arrays order no NaN;
NumPy's scalars compare real parts also beside a NaN in an imaginary part. Python's complex numbers have no order."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import parpy
from backends import BACKENDS, TARGETS, compiled_throughout, options, run
from results import same

PARTS = (1.0, -2.0, 0.0, -0.0, np.nan, np.inf)
Z = np.array([complex(a, b) for a, b in itertools.product(PARTS, repeat=2)])
PLAIN = np.array([3 + 1j, -2j, 3 - 1j, 1 + 1j, 3 + 1j, 0.5j, -1 + 0j, 3 + 1j, 1 + 1j])
TYPES = pytest.mark.parametrize("dtype", [np.complex128, np.complex64])


def scalars(x, y, found):
    for i in range(x.size):
        for j in range(y.size):
            found[0, i, j] = x[i] < y[j]
            found[1, i, j] = x[i] <= y[j]
            found[2, i, j] = x[i] > y[j]
            found[3, i, j] = x[i] >= y[j]
            found[4, i, j] = max(x[i], y[j]) == x[i]
            found[5, i, j] = min(x[i], y[j]) == x[i]
            found[6, i, j] = np.less(x[i], y[j])
            found[7, i, j] = np.greater_equal(x[i], y[j])


def arrays(x, y, found):
    found[0] = x[:, None] < y
    found[1] = x[:, None] <= y
    found[2] = x[:, None] > y
    found[3] = x[:, None] >= y
    found[4] = x[:, None] * 2 < 1
    found[5] = np.less(x[:, None], y)


def extremes(x, y, found):
    found[0] = np.maximum(x[:, None], y)
    found[1] = np.minimum(x[:, None], y)
    found[2] = np.fmax(x[:, None], y)
    found[3] = np.fmin(x[:, None], y)


def reduced(x, found):
    m = x[0]
    for i in range(x.size):
        m = np.fmax(m, x[i])
        if x[i] > found[0]:
            found[0] = x[i]
    found[1] = m
    found[2] = x.max()
    found[3] = np.min(x)


@pytest.mark.parametrize("backend", BACKENDS)
@TYPES
@pytest.mark.parametrize("function", [scalars, arrays, extremes])
def test_pairs(backend, dtype, function):
    x = Z.astype(dtype)
    want = np.zeros((8, x.size, x.size), dtype if function is extremes else np.bool_)
    got = want.copy()
    function(x, x, want)
    run(backend, parpy.jit(function), (x, x, got), {})
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("backend", BACKENDS)
@TYPES
@pytest.mark.parametrize("threads", [None, 64])
def test_reductions(backend, dtype, threads):
    def greatest(x, found):
        parpy.label("i")
        for i in range(x.size):
            found[0] = max(found[0], x[i])
        parpy.label("i")
        for i in range(x.size):
            found[1] = np.fmin(found[1], x[i])

    x = np.tile(PLAIN, 500).astype(dtype)
    x[777] = 5 - 1j
    want, got = np.ones(2, dtype), np.ones(2, dtype)
    greatest(x, want)
    run(backend, parpy.jit(greatest), (x, got), {} if threads is None else {"i": threads})
    np.testing.assert_array_equal(got, want)
    want, got = np.zeros(4, dtype), np.zeros(4, dtype)
    reduced(x, want)
    run(backend, parpy.jit(reduced), (x, got), {})
    np.testing.assert_array_equal(got, want)


def ordered(x):
    y = x.copy()
    y.sort()
    places = np.argsort(x, kind="stable")
    return np.sort(x), y, x[places]


def places(x):
    return np.argmax(x), x.argmin(), np.searchsorted(np.sort(x), x), np.searchsorted(np.sort(x), x, side="right")


def summary(x):
    return np.median(x), np.ptp(x), np.max(x), x.min(), np.maximum.accumulate(x), np.clip(x, -1, 1 + 1j)


def rows(x):
    y = x[:6].reshape(2, 3)
    return y.max(axis=0), np.min(y, axis=1), np.sort(y, axis=0), np.argmax(y, axis=1)


def in_loop(x):
    most = x[:1].copy()
    for i in range(1, x.size):
        most[0] = np.maximum(most[0], np.sort(x[: i + 1])[-1])
    return most


@pytest.mark.parametrize("backend", TARGETS)
@TYPES
@pytest.mark.parametrize("function", [ordered, places, summary, rows, in_loop])
@pytest.mark.parametrize("numbers", [Z, PLAIN], ids=["nan", "plain"])
def test_functions(backend, dtype, function, numbers):
    if numbers is Z and function is summary:
        numbers = Z[np.isfinite(Z)]
    x = numbers.astype(dtype)
    with compiled_throughout():
        assert same(parpy.jit(function)(x.copy(), opts=options(backend, {})), function(x.copy()))


def test_universal_functions():
    @parpy.vectorize(["complex128(complex128, complex128)", "complex64(complex64, complex64)"])
    def greater(a, b):
        return a if a > b else b

    @parpy.vectorize(["bool(complex128, complex128)"])
    def below(a, b):
        return np.less(a, b)

    for x in (PLAIN, PLAIN.astype(np.complex64)):
        assert same(greater(x, x[::-1].copy()), np.maximum(x, x[::-1]))
        assert same(greater.reduce(x), np.maximum.reduce(x))
    assert same(below(Z[:, None], Z), np.less(Z[:, None], Z))


def test_numbers_of_python_have_no_order():
    @parpy.jit
    def compare(a, b):
        return a < b

    with pytest.raises(TypeError, match="P200"):
        compare(1j, 2j)
    assert compare(np.complex128(1j), 2j) and not compare(3j, np.complex64(2j))
