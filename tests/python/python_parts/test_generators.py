"""Generators, functions that assign to variables around them, and names for the rest of a sequence: Python runs
these, between compiled parts."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import parpy
from backends import TARGETS, copies, options
from results import same


def squares(n):
    for i in range(n):
        yield i * i


def fibonacci():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b


def steps(u, n):
    """Yields `u` after each smoothing, which a compiled stretch computes."""
    for _ in range(n):
        u[1:-1] = (u[:-2] + u[2:]) / 2
        yield u


def over_generators(x):
    s = 0
    for v in squares(5):
        s += v
    for v in fibonacci():
        if v > 100:
            break
        s += v
    for u in steps(x, 3):
        s += u[1] * x.sum()
    return s, sum(v for v in squares(4))


def nested_generator(x):
    def pairs(n):
        for i in range(n):
            for j in range(i):
                yield i, j

    s = 0.0
    for i, j in pairs(len(x)):
        s += x[i] * x[j]
    return s


def counted(x):
    n = 0

    def bump(k=1):
        nonlocal n
        n += k

    for i in range(len(x)):
        if x[i] > 3:
            bump()
    bump(10)
    return n, x[n % len(x)]


def running(x):
    total, last = 0.0, x[0]

    def add(v, *more, scale=1.0):
        nonlocal total, last
        last = v
        total += v * scale + len(more)
        return total

    for i in range(len(x)):
        x[i] = add(x[i])
    y = x * total
    add(1.0, 2, 3, scale=2.0)
    return total, last, y


def rest_of(t, x):
    a, *b = t
    first, *middle, end = x
    *_, (c, *d) = (1, (2, 3, 4))
    s = 0.0
    for v in middle:
        s += v
    return a, b, first + end + s, len(middle), c, d


x = np.arange(1.0, 7.0)


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize(
    ("function", "given"),
    [
        (over_generators, (x,)),
        (nested_generator, (x,)),
        (counted, (x,)),
        (running, (x,)),
        (rest_of, ((1, 2.5, 3), x)),
        (rest_of, ((1,), x[:2])),
    ],
)
def test_as_python(backend, function, given):
    compiled = parpy.jit(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", parpy.PerformanceWarning)
        for _ in range(2):
            got, want = copies(given), copies(given)
            assert same(compiled(*got, opts=options(backend, {})), function(*want))
            assert same(got, want)


def test_a_generator_is_a_jit_function():
    @parpy.jit
    def rows(x):
        for i in range(len(x)):
            yield x[i] * 2
        x[0] = 0

    values = np.arange(3.0)
    with pytest.warns(parpy.PerformanceWarning, match="P315"):
        made = rows(values)
        assert next(made) == 0
        values[1] = 7  # it runs as it is asked
        assert [*made] == [14.0, 4.0]


def test_too_few_values():
    def apart(t):
        a, b, *c = t
        return a, b, c

    with pytest.raises(ValueError, match="not enough values"):
        parpy.jit(apart)((1,))


def test_why_python_runs_the_loop():
    def counting(x):
        n = 0

        def bump():
            nonlocal n
            n += 1

        for i in range(len(x)):
            if x[i] > 0:
                bump()
        return n

    with pytest.warns(parpy.PerformanceWarning, match="'bump' is a function that compiled code does not have"):
        assert parpy.jit(counting)(x) == 6


@pytest.mark.parametrize("backend", TARGETS)
def test_generators_of_random_numbers_that_loops_make(backend):
    def at_once(x):
        for i in range(len(x)):
            x[i] = np.random.default_rng(i).random() + 1

    def by_name(x):
        for i in range(len(x)):
            rng = np.random.default_rng(i)
            x[i] = rng.random() + 1

    got, want = np.zeros(5), np.zeros(5)
    parpy.jit(at_once)(got, opts=options(backend, {}))
    parpy.jit(by_name)(want, opts=options(backend, {}))
    np.testing.assert_array_equal(got, want)
    assert len(set(got)) == 5


def test_first_numbers_by_keyword():
    def weighted(x):
        assert len(x) > 0, f"no elements: {len(x)}"
        s = 0.0
        for i, v in enumerate(x, start=2):
            s += i * v
        return s

    assert parpy.jit(weighted)(x) == weighted(x)
    with pytest.raises(AssertionError, match=r"no elements: \{len\(x\)\}"):
        parpy.jit(weighted)(x[:0], debug=True)
