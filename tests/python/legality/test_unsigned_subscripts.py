"""Subscripts of unsigned types beside dimensions that fall in memory."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options


def load(y, m, x):
    for i in range(y.shape[0]):
        y[i] = m[1, x[i]] + m[i % 2, x[i]]


def update(y, m, x):
    for i in range(y.shape[0]):
        m[1, x[i]] += 1.0


def row(y, m, x):
    r = m[1]
    for i in range(y.shape[0]):
        y[i] = r[x[i]]


def rows(y, m, x):
    y[:] = m[1, x]


LAYOUTS = {
    "C": lambda m: m,
    "rows reversed": lambda m: m[::-1],
    "columns reversed": lambda m: m[:, ::-1],
    "Fortran, both reversed": lambda m: np.asfortranarray(m)[::-1, ::-1],
    "every second": lambda m: np.repeat(m, 2, axis=1)[::-1, ::2],
}


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8", "i4"])
def test_unsigned_subscripts(backend, layout, dtype):
    for function in (load, update, row, rows):
        want, got = ((np.zeros(4), LAYOUTS[layout](np.arange(8.0).reshape(2, 4))) for _ in range(2))
        x = np.array([0, 1, 3, 2], dtype)
        function(*want, x)
        parpy.jit(function)(*got, x, opts=options(backend, {}))
        for a, b in zip(want, got, strict=True):
            np.testing.assert_array_equal(a, b)
