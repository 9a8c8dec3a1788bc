"""Functions of which some paths return nothing: their value is None there."""

from __future__ import annotations

import math

import numpy as np
import pytest

import parpy
from backends import TARGETS, copies, options
from results import same


def number(n):
    if n > 3:
        return n * 2


def bare(n):
    if n > 3:
        return n * 2.5
    elif n < 0:
        return
    n += 1


def first_above(x, limit):
    total = 0.0
    for i in range(len(x)):
        total += x[i]
        if total > limit:
            return i


def array(x, n):
    if n > 3:
        return x * 2
    x[0] = 1


def several(x, n):
    """Returns values of four forms."""
    if n > 6:
        return x.sum(), n
    elif n > 3:
        return x * 2
    elif n > 1:
        return n, (x[0], x + 1), None
    elif n == 1:
        return n + 0.5
    x[0] = n


def without_arguments(x, n):
    """The same forms; if no condition holds, it returns nothing."""
    if n > 6:
        return x.sum(), n + 1
    elif n > 3:
        return x * 2
    elif n > 1:
        return n + 1, (x[0], x + 1), None
    elif n == 1:
        return n + 0.5
    x[0] = n


def for_ever(x):
    while True:
        x[0] += 1
        if x[0] > 5:
            return x[0]


def found(x, v):
    for i in range(x.shape[0]):
        if x[i] > v:
            return i


def asks(x, v):
    k = found(x, v)
    if k is None:
        return -1
    return k


def root(v):
    if v >= 0.0:
        return math.sqrt(v)


def roots(x):
    for i in range(len(x)):
        x[i] = root(x[i])
    return x.sum()


x = np.arange(1.0, 7.0)


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (number, [(5,), (2,), (4.5,), (3,)]),
        (bare, [(5,), (2,), (-1,)]),
        (first_above, [(x, 4.0), (x, 400.0), (x[:0], 1.0)]),
        (array, [(x, 5), (x, 2), (x.astype(np.float32), 7)]),
        (several, [(x, n) for n in (7, 4, 2, 1, 0, 8)]),
        (without_arguments, [(x, n) for n in (7, 4, 2, 1, 0, 8)]),
        (for_ever, [(x,)]),
        (asks, [(x, 2.5), (x, 100.0)]),
        (roots, [(x,)]),
    ],
)
def test_as_python(backend, function, calls):
    compiled = parpy.jit(function)
    for given in calls:
        got, want = copies(given), copies(given)
        assert same(compiled(*got, opts=options(backend, {})), function(*want))
        assert same(got, want)


@pytest.mark.parametrize("backend", TARGETS)
def test_none_is_no_number(backend):
    values = np.array([4.0, -1.0])
    with pytest.raises(TypeError, match=r"P434\]: a value is None"):
        parpy.jit(roots)(values, opts=options(backend, {}))


def by_element(x):
    """The choice is not known at compile time."""
    if x[0] > 6:
        return x.sum(), 7
    if x[0] > 3:
        return x * 2
    if x[0] > 1:
        return 3, (x[0], x + 1), None
    x[1] = 5


def test_the_text_runs_again():
    text = parpy.print_compiled(by_element, x)
    assert "// returns: {(f64, i64) | f64[1] | (i64, (f64, f64[1]), None) | None}" in text
    again = parpy.compile_string("by_element", text)
    for first in (7, 4, 2, 1, 0):
        got, want = x.copy(), x.copy()
        got[0] = want[0] = first
        assert same(again(got), by_element(want))
        assert same(got, want)
