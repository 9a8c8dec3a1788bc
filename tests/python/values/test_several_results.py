"""Compiled functions that return several values, numbers and arrays, to compiled functions."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import BACKENDS, TARGETS, copies, options, run

rng = np.random.default_rng(41)


@parpy.jit
def sum_and_scaled(x, k):
    found = 0.0
    for i in range(x.shape[0]):
        found += x[i] * k
    return found, x * k


@parpy.jit
def both(x):
    return sum_and_scaled(x, 2)


@parpy.jit
def signed(x, bias=0.5):
    if x[0] > 0:
        return x[0] + bias, 1
    return x[1], -1


@parpy.jit
def first_above(x, least):
    for i in range(len(x)):
        if x[i] > least:
            return i, x[i]
    return -1, 0.0


@parpy.jit
def updated(x, y):
    x[0] += 1
    x[1] = y[0]
    return x, y, x.shape[0]


@parpy.jit
def at_top(A, x, y):
    s, b = sum_and_scaled(x, 3)
    (first, k), c = signed(x), x[0]
    for i in range(x.shape[0]):
        y[i] = s + b[i] + first * k + c


@parpy.jit
def in_a_loop(A, x, y):
    parpy.label("rows")
    for i in range(A.shape[0]):
        v, k = signed(A[i])
        s, t = sum_and_scaled(A[i, 1:], 2.0)
        w, u = both(A[i, ::2])
        y[i] = v * k + s + t[0] - w * u[1]


@parpy.jit
def searches(A, x, y):
    parpy.label("rows")
    for i in range(A.shape[0]):
        k, v = first_above(A[i], 0.8)
        k, v = v + 1, k + 2
        y[i] = k * 10 + v


@parpy.jit
def by_keyword(A, x, y):
    a, b = signed(bias=2, x=x[2:])
    y[0], y[1] = sum_and_scaled(k=2, x=x)[0], b
    y[2] = a


@parpy.jit
def updates_its_arguments(A, x, y):
    p, q, n = updated(x, y)
    p[2] = n
    q[3] += p[0]


PROGRAMS = [at_top, in_a_loop, searches, by_keyword, updates_its_arguments]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_results_are_those_of_python(backend, program):
    for n in (6, 5, 7):
        ours = (rng.random((n, 7)) - 0.3, rng.random(n) - 0.5, rng.random(n))
        numpys = copies(ours)
        run(backend, program, ours, {"rows": 4} if program in (in_a_loop, searches) else {})
        program(*numpys, seq=True)
        for found, wanted in zip(ours, numpys, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-13)


@parpy.jit
def swapped(x):
    s, y = both(x)
    return y, s


@parpy.jit
def passed_on(x):
    return both(x)


@parpy.jit
def one_number(x):
    return x[0] * 2


@parpy.jit
def one_passed_on(x):
    return one_number(x)


@parpy.jit
def one_twice_passed_on(x):
    return one_passed_on(x)


@pytest.mark.parametrize("backend", TARGETS)
def test_they_are_returned_to_python(backend):
    x = rng.random(9)
    y, s = swapped(x, opts=options(backend, {}))
    np.testing.assert_allclose(y, 2 * x)
    assert s == pytest.approx(2 * x.sum())
    again, z = passed_on(x, opts=options(backend, {}))
    assert again == s
    assert np.array_equal(y, z)
    assert one_twice_passed_on(x, opts=options(backend, {})) == 2 * x[0]


def test_loops_over_such_calls_are_parallel():
    shown = str(parpy.explain(searches, np.ones((4000, 50)), np.ones(4000), np.ones(4000), opts=parpy.auto()))
    assert "A.shape[0]" in shown and "proved" in shown


@parpy.jit
def recursive(n):
    if n == 0:
        return 0, 1
    a, b = recursive(n - 1)
    return b, a + b


@parpy.jit
def too_few(x):
    a, _b, _c = both(x)
    return a


@parpy.jit
def unequal(x):
    if x[0] > 0:
        return 1, 2
    return 1, 2, 3


@parpy.jit
def of_unequal(x):
    a, _b = unequal(x)
    return a


@parpy.jit
def partly(x):
    if x[0] > 0:
        return 1, 2


@parpy.jit
def of_partly(x):
    a, _b = partly(x)
    return a


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
def test_recursion_is_run_by_python():
    assert [recursive(n) for n in (0, 1, 10)] == [(0, 1), (1, 1), (55, 89)]


@pytest.mark.parametrize(
    ("program", "argument", "text"),
    [
        (too_few, np.ones(3), r"P017\]: 2 values cannot be assigned to 3 targets"),
        (
            of_unequal,
            np.ones(3),
            r"P017\]: 'unequal' returns a tuple of 2 elements elsewhere",
        ),
    ],
)
def test_mistakes(program, argument, text):
    with pytest.raises(parpy.CompileError, match=text):
        program(argument, opts=parpy.par({}))


def test_results_that_are_not_there():
    assert of_partly(np.ones(3)) == 1
    with pytest.raises(TypeError, match=r"P434\]: 'partly\(x\)' is None, but is used as a tuple"):
        of_partly(np.zeros(3))
