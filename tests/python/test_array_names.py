"""Other names for arrays, and arrays that exchange them: Python does it, the loops between are compiled."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options


@parpy.jit
def exchange(a, b, steps):
    for t in range(steps):
        parpy.label("i")
        for i in range(1, a.shape[0] - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3
        a, b = b, a
    return a


@parpy.jit
def by_parity(a, b, steps):
    for t in range(steps):
        if t & 1:
            src = b
            dst = a
        else:
            src = a
            dst = b
        parpy.label("i")
        for i in range(1, src.shape[0] - 1):
            dst[i] = (src[i - 1] + src[i] + src[i + 1]) / 3
    return src


@parpy.jit
def three_steps(a, b, steps):
    for t in range(steps):
        parpy.label("i")
        b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3
        c = a
        a = b
        b = c
    return c


@parpy.jit
def chosen(a, b, steps):
    src = a
    for t in range(steps):
        src, dst = (b if t % 2 else a), (a if t % 2 else b)
        parpy.label("i")
        dst[1:-1] = (src[:-2] + src[1:-1] + src[2:]) / 3
    return src


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("function", [exchange, by_parity, three_steps, chosen])
@pytest.mark.parametrize("steps", [1, 2, 7])
def test_names_of_arrays(function, backend, steps):
    x, y = np.random.default_rng(0).random((2, 50))
    for opts in (options(backend, {"i": 16}), parpy.auto(backend=parpy.CompileBackend(backend))):
        a, b, c, d = x.copy(), y.copy(), x.copy(), y.copy()
        got, want = function(a, b, steps, opts=opts), function(c, d, steps, seq=True)
        np.testing.assert_array_equal(a, c)
        np.testing.assert_array_equal(b, d)
        assert (got is a) == (want is c)
        assert (got is b) == (want is d)


@parpy.jit
def numbers(x, y, n):
    u = n
    a, b = 1, 2
    for i in range(u):
        a, b = b, a
        y[i] = a * x[i]


def test_names_of_numbers_stay_in_compiled_code():
    x, y = np.ones(5), np.zeros(5)
    text = parpy.print_compiled(numbers, (x, y, 5))
    assert "for (" in text
    numbers(x, y, 5)
    assert y.tolist() == [2, 1, 2, 1, 2]


@parpy.jit
def inside(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        a = x
        y[i] = a[i]


def test_a_mapped_loop_has_no_such_statements():
    with pytest.raises(parpy.CompileError, match="label 'i' is mapped, but Python runs what it names"):
        inside(np.ones(5), np.zeros(5), opts=options("cpu", {"i": 4}))
