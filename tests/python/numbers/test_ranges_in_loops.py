"""np.arange and np.linspace in loops have NumPy's types and values."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options


def to(n, out):
    for k in range(2):
        x = np.arange(n)
        x[1] = 0.5
        for i in range(3):
            out[i] += x[i] + k


def between(a, b, c, out):
    for k in range(2):
        x = np.arange(a, b, c)
        out[k] = len(x)
        for i in range(len(x)):
            out[2] += x[i] / 2 + 0.25


def apart(a, b, out):
    for k in range(2):
        x = np.linspace(a, b, 4)
        for i in range(4):
            out[k] += x[i] * x[i]


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("n", [3, 3.0, np.float32(3)])
def test_numbers_to(backend, n):
    got, want = np.zeros(3), np.zeros(3)
    parpy.jit(to)(n, got, opts=options(backend, {}))
    to(n, want)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize(
    "numbers",
    [
        (0, 10, 3), (10, 0, -3), (0, 3.0, 1), (0.5, 2.0, 0.25), (5, 5, 1), (0, -4, 1), (3, 1, -5), (2, 1.5, -0.125),
        (np.int8(100), np.int8(120), np.int8(7)), (np.int16(-3), 9, np.int64(4)), (np.float32(0.5), 3, 1),
    ],
)  # fmt: skip
def test_numbers_between(backend, numbers):
    got, want = np.zeros(3), np.zeros(3)
    parpy.jit(between)(*numbers, got, opts=options(backend, {}))
    between(*numbers, want)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("numbers, error", [((0, 10, 0), ZeroDivisionError), ((0.0, np.inf, 1.0), ValueError)])
def test_ranges_without_an_end(numbers, error):
    with pytest.raises(error):
        parpy.jit(between)(*numbers, np.zeros(3))


@pytest.mark.parametrize("numbers", [(0, 1), (np.float32(0), np.float32(1)), (1.5, -2)])
def test_equal_distances(numbers):
    got, want = np.zeros(2), np.zeros(2)
    parpy.jit(apart)(*numbers, got)
    apart(*numbers, want)
    np.testing.assert_allclose(got, want, rtol=1e-7 if isinstance(numbers[0], np.float32) else 1e-15)


def test_the_type_of_equal_distances():
    def kind(a, b):
        total = a - a
        for _ in range(2):
            x = np.linspace(a, b, 4)
            total = total + x[1]
        return total

    assert type(parpy.jit(kind)(np.float32(0), np.float32(1))) is np.float32
