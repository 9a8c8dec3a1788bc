"""Methods of ufuncs and outer products, against NumPy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import parpy
from backends import TARGETS, copies, options

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


FUNCTIONS = [products, outer, reduce]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", TARGETS)
def test_as_numpy(backend, function):
    given = rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=(4, 4))
    want, got = copies(given), copies(given)
    expected = function(*want)
    with warnings.catch_warnings():
        warnings.simplefilter("error", parpy.PerformanceWarning)  # Python runs no loop
        result = parpy.jit(function)(*got, opts=options(backend, {}))
    np.testing.assert_allclose(result or 0, expected or 0, rtol=1e-12)
    for a, b in zip(want, got, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_outer_products_of_matrices_are_refused():
    def squares(x):
        return np.outer(x, x)

    with pytest.raises(parpy.CompileError, match=r"P232.*'np.outer' takes arrays of one dimension"):
        parpy.jit(squares)(np.ones((2, 2)))
