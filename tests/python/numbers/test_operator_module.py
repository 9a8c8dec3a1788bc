"""The functions of Python's `operator`, called and handed on in jit functions."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import parpy

TWO = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor", "eq", "ne",
       "lt", "le", "gt", "ge"]  # fmt: skip
ONE = ["neg", "pos", "invert", "not_", "abs", "truth", "index"]


@pytest.mark.parametrize("name", TWO)
def test_of_two_numbers(name):
    f = getattr(operator, name)

    @parpy.jit
    def apply(x, y, out):
        for i in range(len(x)):
            out[i] = f(x[i], y[i])

    x, y, out = np.array([5, -3, 2, 0]), np.array([2, 2, 1, 3]), np.zeros(4)
    apply(x, y, out)
    np.testing.assert_array_equal(out, f(x, y))


@pytest.mark.parametrize("name", ONE)
def test_of_one_number(name):
    f = getattr(operator, name)

    @parpy.jit
    def apply(x, out):
        for i in range(len(x)):
            out[i] = f(x[i])

    x, out = np.array([5, -3, 0]), np.zeros(3)
    apply(x, out)
    assert out.tolist() == [f(value) for value in x.tolist()]


@parpy.jit
def folded(f, x):
    total = x[0]
    for i in range(1, len(x)):
        total = f(total, x[i])
    return total


def test_as_arguments():
    x = np.arange(1.0, 6.0)
    assert folded(operator.add, x) == 15 and folded(operator.mul, x) == 120 and folded(operator.sub, x) == -13


@parpy.jit
def product(a, b, c):
    c[:, :] = operator.matmul(a, b)


def test_matrix_product():
    a, b, c = np.arange(12.0).reshape(3, 4), np.arange(8.0).reshape(4, 2), np.zeros((3, 2))
    product(a, b, c)
    np.testing.assert_allclose(c, a @ b)
