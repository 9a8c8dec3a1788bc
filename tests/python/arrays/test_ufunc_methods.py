"""Methods of ufuncs and outer products, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, check_as_python

rng = np.random.default_rng(3)


def products(x, y, out):
    out += np.outer(x[0], x[1])
    for t in range(3):
        out += np.outer(y, x[t])
        out -= np.outer(y * 2, x[t, :] - 1)
    out[1:3] = np.outer(x[1:, 0], y)


def outer(x, y, out):
    out += np.add.outer(y, x[1]) * 2
    for t in range(3):
        out += np.subtract.outer(x[t], y * 2)
        out += np.maximum.outer(x[t], y[::-1])
        out += np.less.outer(x[t], y)
    return np.multiply.outer(y[1:-1], x[2, 1:3]).sum()


def reduce(x, y, out):
    y[:] = np.add.reduce(x) + np.maximum.reduce(x, axis=0)
    out[:3, 0] = np.add.reduce(x, axis=1)
    return np.multiply.reduce(x[0]) + np.add.reduce(x, axis=None) + np.minimum.reduce(x[1])


def accumulate(x, y, out):
    for t in range(3):
        y += np.maximum.accumulate(x[t]) + np.minimum.accumulate(x[t])
        y += np.add.accumulate(x[t]) + np.multiply.accumulate(x[t] * 2)
    out[:3] = np.maximum.accumulate(x) + np.add.accumulate(x, axis=1)
    out[1:] += np.minimum.accumulate(x, axis=1)


def at(x, y, out):
    i = np.array([0, 1, 1, -1])
    j = np.array([3, 1, 1, 0])
    np.add.at(y, i, out[0])
    np.subtract.at(y, i, 1)
    np.multiply.at(y, [0, 1], 2.0)
    np.add.at(y, 2, 5)
    for t in range(2):
        np.maximum.at(y, i, out[1] * t)
        np.minimum.at(y, i, out[2] + 1)
        np.add.at(out[t], j, 1)
    np.add.at(out, (i, j), x[0])
    np.add.at(out, (i, j), 1)
    np.add.at(out, i, 2)
    np.add.at(out, i, x[1])
    np.add.at(out, i, x[[0, 1, 2, 0]] * 1)
    np.add.at(out, (i[1:], 1), 3.0)


FUNCTIONS = [products, outer, reduce, accumulate, at]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", TARGETS)
def test_as_numpy(backend, function):
    given = rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=(4, 4))
    check_as_python(backend, function, given)


def test_outer_products_of_matrices_are_refused():
    def squares(x):
        return np.outer(x, x)

    with pytest.raises(parpy.CompileError, match=r"P232.*'np.outer' takes arrays of one dimension"):
        parpy.jit(squares)(np.ones((2, 2)))


def test_what_updates_refuse():
    def by_mask(x):
        np.add.at(x, x > 0, 1)

    def too_few(x, k, v):
        np.add.at(x, k, v)

    values = np.array([1.0, -1.0, 2.0])
    parpy.jit(by_mask)(values)  # Python runs this one
    np.testing.assert_array_equal(values, [2.0, -1.0, 3.0])
    with pytest.raises(ValueError, match="as many values as subscripts"):
        parpy.jit(too_few)(np.ones(3), np.array([0, 1]), np.ones(3))
