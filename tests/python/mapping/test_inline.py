"""parpy.builtin.inline: the labels of the called function name loops of the caller."""

from __future__ import annotations

import numpy as np
import pytest

import backends
import parpy
from backends import options
from parpy.builtin import inline

rng = np.random.default_rng(5)
factor = 3.0


@parpy.jit
def scale(y, n, by=2.0):
    parpy.label("N")
    for i in range(n):
        y[i] = y[i] * by * factor


@parpy.jit
def total(x, n):
    s = 0.0
    parpy.label("M")
    for i in range(n):
        s += x[i]
    n = 0
    return s


@parpy.jit
def f(x, y, n):
    inline(scale(y, n))
    s = inline(total(x, n))
    parpy.label("K")
    for i in range(n):
        y[i] += s


@parpy.jit
def twice(x, n):
    inline(scale(x, n, by=0.5))
    inline(scale(x, n - 1))


@parpy.jit
def rows(x, n, m):
    for i in range(n):
        inline(scale_row(x, i, m))


@parpy.jit
def scale_row(x, i, m):
    inline(sum_of(x, i))
    parpy.label("M")
    x[i, :] *= m


@parpy.jit
def sum_of(x, i):
    parpy.label("S")
    x[i, 0] = parpy.sum(x[i, :])


CASES = [
    (f, (rng.integers(-5, 6, 70) * 1.0, rng.integers(-5, 6, 70) * 1.0, 70), {"N": 64, "M": 64, "K": 32}),
    (twice, (rng.integers(-5, 6, 70) * 1.0, 70), {"N": 64}),
    (rows, (rng.integers(-5, 6, (4, 9)) * 1.0, 4, 9), {"M": 32, "S": 32}),
]


@pytest.mark.gpu
@pytest.mark.parametrize(("function", "arguments", "mapping"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_labels_count(function, arguments, mapping):
    want = backends.copies(arguments)
    function(*want, seq=True)
    for backend in backends.NAMES:
        for loops in ({}, mapping):
            got = backends.copies(arguments)
            backends.run(backend, function, got, loops)
            for expected, actual in zip(want, got, strict=True):
                np.testing.assert_array_equal(actual, expected)


@parpy.jit
def early(y, n):
    if n == 0:
        return
    parpy.label("N")
    for i in range(n):
        y[i] *= 2


@pytest.mark.parametrize("backend", backends.BACKENDS)
def test_functions_whose_labels_are_mapped_are_inlined(backend):
    @parpy.jit
    def plain(y, n):
        scale(y, n)

    y = np.ones(4)
    want = y.copy()
    plain(want, 4, seq=True)
    backends.run(backend, plain, (y, 4), {"N": 4})
    assert np.array_equal(y, want)


def test_labels_of_functions_that_cannot_be_inlined():
    @parpy.jit
    def plain(y, n):
        early(y, n)

    with pytest.raises(parpy.CompileError, match="P305"):
        plain(np.ones(4), 4, opts=backends.options("cpu", {"N": 4}))


def test_what_inline_takes():
    @parpy.jit
    def wrong(y, n):
        y[0] = inline(n)

    with pytest.raises(parpy.CompileError, match="'inline' takes a call of a jit function"):
        wrong(np.ones(4), 4, opts=parpy.par({}))


def test_no_recursion():
    @parpy.jit
    def endless(y):
        inline(again(y))

    with pytest.raises(parpy.CompileError, match="it calls itself"):
        endless(np.ones(4), opts=parpy.par({}))


@parpy.jit
def again(y):
    y[0] = 1
    inline(again(y))


@parpy.jit
def following(c):
    parpy.label("none")
    for k in range(1):
        c[0] += 1
    return c[0] - 1


@parpy.jit
def numbered(c, y, n):
    for i in range(n):
        y[following(c)] = c[0] * 10


@parpy.jit
def numbered_twice(c, y, n):
    for i in range(n):
        y[following(c)] = following(c) * 10


@parpy.jit
def numbered_with_sum(c, y, n):
    for i in range(n):
        y[following(c) + c[0]] = i


@pytest.mark.parametrize("function", [numbered, numbered_twice, numbered_with_sum])
def test_values_are_evaluated_before_subscripts(function):
    arguments = [(np.zeros(1, np.int64), np.zeros(24), 5) for _ in range(2)]
    function(*arguments[0], seq=True)
    function(*arguments[1])
    for got, want in zip(*arguments, strict=True):
        np.testing.assert_array_equal(got, want)


def test_helpers_that_cannot_take_the_place_of_their_call_are_not_mapped():
    with pytest.raises(parpy.CompileError, match="P305"):
        numbered(np.zeros(1, np.int64), np.zeros(24), 5, opts=options("cpu", {"none": 1}))


def test_calls_of_a_statement_take_the_place_of_each_other_in_order():
    arguments = [(np.zeros(1, np.int64), np.zeros(24), 5) for _ in range(2)]
    numbered_twice(*arguments[0], seq=True)
    numbered_twice(*arguments[1], opts=options("cpu", {"none": 1}))
    for got, want in zip(*arguments, strict=True):
        np.testing.assert_array_equal(got, want)


@parpy.jit
def steps(c):
    c[0] += 5
    if c[0] > 100:
        return 3
    return 1


@parpy.jit
def twice(c):
    return c[0] * 2


@parpy.jit
def sum_of_three(c):
    s = 0
    parpy.label("j")
    for j in range(3):
        s += c[j]
    return s


@parpy.jit
def hundreds(a, b):
    return 100 * a + b


@parpy.jit
def added(c, y):
    y[0] = steps(c) + inline(twice(c))


@parpy.jit
def assigned(c, y):
    a = steps(c) * 10 + inline(twice(c))
    y[0] = a


@parpy.jit
def updated(c, y):
    y[0] += steps(c) * 100 + inline(twice(c))


@parpy.jit
def subscripted(c, y):
    y[steps(c) + inline(twice(c))] = 1


@parpy.jit
def two_subscripts(c, y):
    y[steps(c) : steps(c) + inline(twice(c))] = 1


@parpy.jit
def arguments(c, y):
    y[0] = inline(hundreds(steps(c), inline(twice(c))))


@parpy.jit
def read_first(c, y):
    y[0] = inline(twice(c)) * 100 + steps(c) + inline(hundreds(1, 2))


@parpy.jit
def one_branch(c, y):
    y[0] = (steps(c) if y[0] == 0 else 0) + inline(twice(c))


@pytest.mark.parametrize(
    "function", [added, assigned, updated, subscripted, two_subscripts, arguments, read_first, one_branch]
)
def test_what_reads_stays_behind_what_acts(function):
    arguments = [(np.ones(3, np.int64), np.zeros(30, np.int64)) for _ in range(2)]
    function(*arguments[0], seq=True)
    function(*arguments[1], opts=options("cpu", {}))
    for got, want in zip(*arguments, strict=True):
        np.testing.assert_array_equal(got, want)


@parpy.jit
def sum_behind(c, y):
    y[0] = steps(c) + sum_of_three(c)


@parpy.jit
def sum_in_front(c, y):
    y[0] = sum_of_three(c) * 10 + steps(c) + hundreds(1, 2)


def test_mapped_loops_stay_behind_what_acts():
    with pytest.raises(parpy.CompileError, match="P305"):
        sum_behind(np.ones(3, np.int64), np.zeros(1, np.int64), opts=options("cpu", {"j": 2}))
    c, y = np.ones(3, np.int64), np.zeros(1, np.int64)
    sum_in_front(c, y, opts=options("cpu", {"j": 2}))
    assert y[0] == 133 and c[0] == 6
