"""Elements of tuples of numbers of several types, by subscripts that are known when the program runs: outside of loops
they have Python's types. In loops they have the common type, which must hold their values."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options

LARGE = 2**53 + 1


def element(t, n):
    return t[n]


def computed(t, n):
    return t[n] * 2 + 1, t[-n - 1]


def named(t, n):
    u = t
    return u[n], [t[n], t[0]]


def inner(t, n):
    return t[n]


def of_function(t, n):
    return inner(t, n)


def spread(t, n):
    c = t[n]
    y = np.zeros(3, np.complex128)
    for i in range(3):
        y[i] = i + c
    return c, y.sum()


TUPLES = [(1, 2.5), (LARGE, 2.5), (True, 2), (True, LARGE), (False, 1.5), (1, 2), (2.5, 3.5), (1, 2.5, 3)]
TUPLES += [(1, 2.5, 3j)]


@pytest.mark.parametrize("t", TUPLES, ids=str)
@pytest.mark.parametrize("function", [element, computed, named, of_function, spread])
@pytest.mark.parametrize("backend", TARGETS)
def test_types_are_pythons(backend, function, t):
    compiled = parpy.jit(function)
    for n in (0, 1, 0, -1):
        got, want = compiled(t, n, opts=options(backend, {})), function(t, n)
        assert got == want
        kinds = (int, float, bool, complex)
        for a, b in zip(*(each if isinstance(each, tuple) else (each,) for each in (got, want)), strict=True):
            assert type(a) is type(b) or type(b) not in kinds


def largest(t, n):
    best = 0
    for i in range(n):
        best = max(best, t[i] - 1)
    return best


@pytest.mark.parametrize("backend", TARGETS)
def test_large_integers_in_loops_are_refused(backend):
    compiled = parpy.jit(largest)
    for t in ((1, 2.5), (2**53, 2.5), (2.5, 7), (2.5, 9)):
        assert compiled(t, 2, opts=options(backend, {})) == largest(t, 2)
    for t in ((LARGE, 2.5), (-LARGE, 2.5), (2.5, 2**62)):
        with pytest.raises(parpy.CompileError, match=r"P025\]: the elements of this tuple are integers and floats"):
            compiled(t, 2, opts=options(backend, {}))


def in_a_loop(t, n, y):
    for i in range(n):
        y[i] = t[i % len(t)]
    return y


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
@pytest.mark.parametrize("backend", TARGETS)
def test_floats_in_loops_have_the_values(backend):
    compiled = parpy.jit(in_a_loop)
    for large in (1, 5, -7, 2**53, -(2**53), 6):
        for n in (2, 3, 5):
            got = compiled((large, 2.5), n, np.zeros(5), opts=options(backend, {}))
            np.testing.assert_array_equal(got, in_a_loop((large, 2.5), n, np.zeros(5)))
    for large in (LARGE, -LARGE, 2**62 + 1):  # Python runs the loop
        for t in ((large, 2.5), (2.0, large), (large, 2)):
            for dtype in (np.int64, np.float64):
                got = compiled(t, 3, np.zeros(5, dtype), opts=options(backend, {}))
                np.testing.assert_array_equal(got, in_a_loop(t, 3, np.zeros(5, dtype)))
