"""Tuples that may be None, and the order of tuples."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import BACKENDS, TARGETS, compiled_throughout, copies, options, run

X = np.array([0.7, 0.2, 0.9, 0.1, 0.5])
M = np.array([[3.0, 1.0, 2.0], [5.0, 4.0, 6.0]])


def first_above(x, t):
    for i, v in enumerate(x):
        if v > t:
            return i, v
    return None


def first_below(x, t):
    found = None
    for i, v in enumerate(x):
        if v < t:
            found = (i, v)
            break
    return found


def least(x, t):
    best = None
    for i in range(len(x)):
        v = x[i]
        if v > t and (best is None or v < best[0]):
            best = (v, i)
    return best


def least_apart(x, t):
    best = None
    for i in range(len(x)):
        v = x[i]
        if best is None or v < best[0]:
            best = (v, i)
    v, i = best
    return best[0] + best[1] + v * i + t


def handed_on(x, t):
    return first_above(x, t)


def or_another(x, t):
    found = first_above(x, t)
    if found is None:
        found = first_above(x, 0.0)
    return found[0] + found[1]


def none_or_default(x, t):
    return first_above(x, t) or (7, 2.0)


def ordered(x, t):
    a, b = (x[0], 1), (x[1], 2)
    c = (int(t), 3)
    return a < b, a >= b, (1, 2) < (1, 2, 0), (1, 2, 0) <= (1, 2), c > (0, 2), (1, (2, 3)) < (1, (2, 4)), () < (1,)


def not_ordered(x, t):
    nan, other = np.nan * x[0], np.nan * x[1]
    return (nan, 1) < (other, 2), (nan, 1) >= (0.0, 2), (1.0, nan) < (2.0, 0.0)


def greatest(x, t):
    best = (0, -1)
    for i in range(len(x)):
        best = max(best, (int(x[i] * 10), i))
    least = min((x[0], 0), (x[1], 1), (x[2], 2))
    return best, least


def of_literals(x, t):
    k = 1 if t > 1 else 2
    return [x[0], x[1], x[2]][k], (1, 2, 3)[k], [1, 2][-1], (x[0], (x[1], 2))[1]


PROGRAMS = [
    first_above, first_below, least, least_apart, handed_on, or_another, ordered, not_ordered, greatest, of_literals,
]  # fmt: skip


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("t", [0.6, 5.0, -1.0])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_results_are_those_of_python(backend, program, t):
    with compiled_throughout():
        result = parpy.jit(program)(X, t, opts=options(backend, {}))
    assert result == program(X, t)


def stored(m, out):
    for r in range(m.shape[0]):
        best = None
        for i in range(m.shape[1]):
            if m[r, i] > 1.5 and (best is None or (m[r, i], i) < best):
                best = (m[r, i], i)
        out[r] = -1 if best is None else best[0] + best[1]
        top = max((m[r, 0], 1), (m[r, 1], 2))
        out[r] += top[1]


@pytest.mark.parametrize("backend", BACKENDS)
def test_tuples_of_loops_are_those_of_python(backend):
    want, got = np.zeros(2), np.zeros(2)
    stored(M, want)
    run(backend, parpy.jit(stored), (M, got), {})
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("backend", TARGETS)
def test_none_is_used_as_a_tuple(backend):
    with pytest.raises(TypeError, match=r"P434.*'best' is None, but is used as a tuple"):
        parpy.jit(least_apart)(X[:0], 0.5, opts=options(backend, {}))
    with pytest.raises(TypeError):
        least_apart(X[:0], 0.5)


@pytest.mark.parametrize("t", [0.6, 5.0])
def test_a_tuple_or_another(t):
    assert parpy.jit(none_or_default)(X, t) == none_or_default(X, t)


@parpy.jit
def best_row(m):
    best = None
    for r in range(m.shape[0]):
        if best is None or m[r, 0] > best[1]:
            best = (m[r].copy(), m[r, 0])
    return best[0]


def test_tuples_of_arrays_are_left_to_python():
    (given,) = copies((M,))
    with pytest.warns(parpy.PerformanceWarning, match="P315"):
        np.testing.assert_array_equal(best_row(given), M[1])
