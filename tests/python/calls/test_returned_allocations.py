"""Arrays that a function allocates, fills in loops and returns: compiled code makes them, with NumPy's types."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS
from parpy import CompileBackend


def empty(x):
    y = np.empty(len(x))
    for i in range(len(x)):
        y[i] = 2 * x[i]
    return y


def zeros(x):
    y = np.zeros(x.shape[0] + 2, dtype=np.float32)
    for i in range(len(x)):
        y[i + 1] += x[i]
    return y


def ones_like(x):
    y = np.ones_like(x)
    for i in range(1, len(x)):
        y[i] = y[i - 1] + x[i]
    return y


def full(x):
    y = np.full((len(x), 3), 7)
    for i in range(len(x)):
        y[i, 1] = i
    return y


def full_of_type(x):
    y = np.full(len(x), 2.5, dtype=np.int16)
    for i in range(0, len(x), 2):
        y[i] += 1
    return y


def booleans(x):
    y = np.zeros(len(x), dtype=bool)
    for i in range(len(x)):
        if x[i] > 0.5:
            y[i] = True
    return y


def complex_numbers(x):
    y = np.zeros(len(x), complex)
    for i in range(len(x)):
        y[i] = x[i] + 1j
    return y


def copied(x):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = max(y[i - 1], y[i])
    return y


def of_its_type(x):
    y = np.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        y[len(x) - 1 - i] = x[i]
    return y


def several(x):
    n = len(x)
    total = 0.0
    y, k = np.zeros(n), 3
    z = np.empty((n, k), np.int64)
    for i in range(n):
        y[i] = x[i] + 1
        total += y[i]
        for j in range(k):
            z[i, j] = i * j
    return y, z, total


def twice(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i]
    return y, y


def early(x):
    y = np.zeros(len(x))
    if len(x) < 3:
        return y
    for i in range(len(x)):
        y[i] = 1 / (1 + x[i])
    return y


def in_two_loops(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i]
    for i in range(1, len(x)):
        y[i] -= x[i - 1]
    return y


def counted(x):
    h = np.zeros(4, dtype=np.int64)
    for i in range(len(x)):
        h[min(3, int(4 * x[i]))] += 1
    return h


def halved(x):
    out = np.empty([x.shape[0] // 2], dtype=x.dtype)
    for i in range(x.shape[0] // 2):
        out[i] = x[2 * i]
    return out


halved_by_jit = parpy.jit(halved)


def of_a_computed_type(x):
    y = halved_by_jit(x * 2)
    y = halved_by_jit(y)
    return y + 1


FUNCTIONS = [
    *(empty, zeros, ones_like, full, full_of_type, booleans, complex_numbers, copied, of_its_type, several, twice),
    *(early, in_two_loops, counted, of_a_computed_type),
]


def _check(got, want):
    if not isinstance(want, tuple):
        got, want = (got,), (want,)
    assert isinstance(got, tuple) and len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        if isinstance(other, np.ndarray):
            assert type(one) is np.ndarray and one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_results(function, target):
    made, options = parpy.jit(function), parpy.auto(backend=CompileBackend(target))
    for n in (0, 1, 5, 5, 8, 1000):
        x = np.random.default_rng(n).random(n)
        for dtype in (np.float64, np.float32):
            _check(made(x.astype(dtype), opts=options), function(x.astype(dtype)))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("function", [f for f in FUNCTIONS if f is not counted], ids=lambda f: f.__name__)
def test_views_and_special_values(function, target):
    made, options = parpy.jit(function), parpy.auto(backend=CompileBackend(target))
    x = np.random.default_rng(0).random(40)
    x[[3, 8, 21, 30]] = np.nan, np.inf, -np.inf, -0.0
    for view in (x, x[::2], x[::-3], np.broadcast_to(x[5:6], (7,))):
        before = view.copy()
        with np.errstate(all="ignore"):
            _check(made(view, opts=options), function(view))
        np.testing.assert_array_equal(view, before)


@pytest.mark.parametrize("function", [f for f in FUNCTIONS if f is not twice], ids=lambda f: f.__name__)
def test_python_runs_no_part(function):
    assert "Python runs" not in str(parpy.explain(parpy.jit(function), np.ones(9)))


def test_one_array_that_is_returned_twice():
    a, b = parpy.jit(twice)(np.ones(3))
    assert a is b


def test_each_call_has_its_own_array():
    made = parpy.jit(zeros)
    a, b = made(np.ones(3)), made(np.zeros(3))
    assert a is not b and not np.shares_memory(a, b) and a.flags.writeable and a.flags.owndata
    assert a.tolist() == [0, 1, 1, 1, 0] and not b.any()


@parpy.jit
def labelled(x):
    y, z = np.zeros(len(x)), np.full((3, len(x)), -1.0)
    parpy.label("i")
    for i in range(len(x)):
        y[i] = x[i]
        z[1, i] = x[i]
    return y, z


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n", [0, 1, 300, 3000])
def test_a_mapping_by_hand_does_not_name_the_loops_that_fill(n, target):
    x = np.arange(float(n))
    options = parpy.CompileOptions(parallelize={"i": parpy.threads(64)}, backend=CompileBackend(target))
    y, z = labelled(x, opts=options)
    np.testing.assert_array_equal(y, x)
    np.testing.assert_array_equal(z, [np.full(n, -1.0), x, np.full(n, -1.0)])


def test_errors_are_those_of_python():
    @parpy.jit
    def sized(n):
        y = np.zeros(n)
        for i in range(n):
            y[i] = i
        return y

    assert sized(4).tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="negative"):
        sized(-1)
    with pytest.raises((MemoryError, parpy.BackendError)):
        sized(2**45)
    assert sized(2).tolist() == [0, 1]
