"""`with parpy.gpu` inside code that already runs on the device."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options


@parpy.jit
def nested_gpu(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        with parpy.gpu:
            y[i] = x[i] + 1
            with parpy.gpu:
                y[i] *= 2


@parpy.jit
def bump(y, i):
    with parpy.gpu:
        y[i] += 1.0


@parpy.jit
def bumped(x, y):
    for i in range(x.shape[0]):
        bump(y, i)
    parpy.label("i")
    for i in range(x.shape[0]):
        y[i] *= 2


@parpy.jit
def cleared(y, n):
    with parpy.gpu:
        if n > 0:
            y[n] = 0.0
            cleared(y, n - 1)


@pytest.mark.parametrize("backend", TARGETS)
def test_gpu_blocks_in_mapped_loops_and_helpers(backend):
    for function in (nested_gpu, bumped):
        x, got, want = np.arange(20.0), np.zeros(20), np.zeros(20)
        function(x, want, seq=True)
        function(x, got, opts=options(backend, {"i": 8}))
        np.testing.assert_array_equal(got, want)
    y = np.ones(5)
    cleared(y, 3, opts=options(backend, {}))
    assert y.tolist() == [1, 0, 0, 0, 1]


class Spring:
    def __init__(self, strength):
        self.strength = strength

    def moved(self, x, s):
        for q in range(len(x)):
            x[q] = x[q] * 0.5 + s * self.strength
        return x[0] if len(x) > 0 else s


SPRING = Spring(1.5)


@parpy.jit
def moved(x, y, n):
    for i in range(n):
        y[0] += 1.0
        s = SPRING.moved(x, i + 0.5)
    return s


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("size", [0, 1, 5])
def test_calls_with_empty_arrays(size, backend):
    """The called function reads no element of an empty array, for which the host has no pointer."""
    mapping = {} if backend == "cpu" else {"gpu": parpy.threads(1)}
    want, got = np.ones(size), np.ones(size)
    expected = moved.py_func(want, np.zeros(1), 3)
    assert moved(got, np.zeros(1), 3, opts=options(backend, mapping)) == expected
    np.testing.assert_array_equal(got, want)
