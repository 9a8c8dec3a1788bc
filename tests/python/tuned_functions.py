"""Functions shared by the tests of parpy.tune."""

from __future__ import annotations

import numpy as np

import parpy

FACTORS = np.zeros(4)


@parpy.jit
def sum_rows_here(x, y, n, m):
    for i in range(n):
        for j in range(m):
            y[i] += x[i, j]


@parpy.jit
def smooth_here(a, b, t, n):
    for _ in range(t):
        parpy.label("there")
        for i in range(1, n - 1):
            b[i] = (a[i - 1] + a[i + 1]) / 2
        parpy.label("back")
        for i in range(1, n - 1):
            a[i] = b[i]


@parpy.jit
def into_global_here(x, n):
    for i in range(n):
        FACTORS[i] += x[i]


def tune(function, *args, **options):
    """parpy.tune that ignores the results of earlier tests."""
    return parpy.tune(function, *args, **{"force": True, **options})


def rows(n=30, m=40):
    return np.random.default_rng(0).random((n, m)), np.zeros(n), n, m


def smoothed(n=4000):
    return np.arange(float(n)) ** 0.5, np.zeros(n), 3, n
