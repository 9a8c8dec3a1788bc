"""Slices that overlap the array that they are stored to, with sizes that are unknown when the function is entered."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import BACKENDS, run

rng = np.random.default_rng(31)


def flipped(x):
    for m in range(1, x.shape[1]):
        x[0, :m] += 0.5 * np.flip(x[0, :m])


def reversed_rows(x):
    for m in range(1, x.shape[0] + 1):
        x[:m] = x[:m][::-1] * 0.5 + x[m - 1, 0]


def both_axes(x):
    for m in range(x.shape[0]):
        x[:m, :m] = x[:m, :m].T + 1


def later(x):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[i, :j] += x[i, :j][::-1]


@pytest.mark.parametrize("function", [flipped, reversed_rows, both_axes, later])
@pytest.mark.parametrize("backend", BACKENDS)
def test_as_numpy(backend, function):
    compiled = parpy.jit(function)
    for size in (6, 7, 9, 11):  # own sizes, and any
        for order in ("C", "F"):
            x = np.asarray(rng.random((size, size)), order=order)
            want, got = x.copy(order="K"), x.copy(order="K")
            function(want)
            run(backend, compiled, (got,), {})
            assert np.array_equal(got, want)
