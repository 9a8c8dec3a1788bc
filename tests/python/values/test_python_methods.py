"""Methods of tuples and integers, against Python."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options

PRIMES = (2, 3, 5, 7, 5)


class Grid:
    """Its methods have the names of those of tuples."""

    def index(self, i):
        return i * 2

    def count(self, i):
        return i * 3


def of_arguments(t, names, grid, y):
    for i in range(3):
        y[i] = grid.index(i) + grid.count(i)
    return t.index(2.5) + 10 * t.count(3.0) + 100 * names.index("b")


def written_out(t, names, grid, y):
    a = (4, 5, 6, 5)
    weights = [1, 2, 5]
    modes = ["mean", "sum"]
    for i in range(3):
        y[i] = a.index(4 + i) + PRIMES.count(5) * PRIMES.index(2 + i % 2)
    return a.count(5), weights.index(2), (1, 2, 5).index(5), modes.index("sum"), weights[0]


def lengths(t, names, grid, y):
    total = 0
    for i in range(5):
        total += (i * 1000).bit_length() + (-i).bit_length()
    return total, (2).bit_length()


@pytest.mark.parametrize("function", [of_arguments, written_out, lengths], ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", TARGETS)
def test_as_python(backend, function):
    want, got = np.zeros(3), np.zeros(3)
    given = (1.0, 2.5, 3.0, 3.0), ("a", "b"), Grid()
    expected = function(*given, want)
    assert parpy.jit(function)(*given, got, opts=options(backend, {})) == expected
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("n", [0, 1, -1, 2, 3, 4, 255, -256, 2**63 - 1, -(2**63)])
def test_bit_lengths(n):
    def length(n):
        return n.bit_length()

    assert parpy.jit(length)(n) == n.bit_length()


def test_what_is_not_there():
    def place(t, v):
        return t.index(v)

    with pytest.raises(ValueError, match="x not in tuple"):
        parpy.jit(place)((1, 2), 3)
