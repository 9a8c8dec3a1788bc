"""`a if c else b` of an array and a number, or None: the result is what Python chooses; elements that such a value
fills are compiled."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options
from results import same


def array_or_literal(x, c):
    return x * 2 if c else 0


def array_or_sum(x, c):
    return x * 2 if c else x.sum()


def named(x, c):
    y = x * 2 if c else 0.0
    return y + 1


def array_or_none(x, c):
    return x[1:] if c else None


def sum_or_array(x, c):
    r = x.sum() if c else x + 1
    return r


@pytest.mark.parametrize("function", [array_or_literal, array_or_sum, named, array_or_none, sum_or_array])
@pytest.mark.parametrize("c", [False, True, 0, 2.5])
def test_choices(function, c):
    for x in (np.array([4.0, 1.0, 2.0]), np.arange(3), np.zeros(0)):
        assert same(parpy.jit(function)(x, c), function(x, c))


@pytest.mark.parametrize("backend", TARGETS)
def test_elements_that_a_choice_fills(backend):
    def filled(x, y, c):
        for i in range(2):
            y[i, :] = x * 2 if c else 0.5
            y[i, 1:] += x[1:] if x[0] > 3 else i

    for c in (False, True):
        x, got, want = np.array([4.0, 1.0, 2.0]), np.zeros((2, 3)), np.zeros((2, 3))
        parpy.jit(filled)(x, got, c, opts=options(backend, {}))
        filled(x, want, c)
        np.testing.assert_array_equal(got, want)


def test_in_a_loop_it_is_refused():
    def chosen(x, n):
        s = 0.0
        for i in range(n):
            y = x * i if i > 1 else 0.0
            s += np.sum(y)
        return s

    with pytest.raises(parpy.CompileError, match="an array or a number, depending on the condition"):
        parpy.jit(nopython=True)(chosen)(np.arange(3.0), 4, opts=parpy.par({}))
