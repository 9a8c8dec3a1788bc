"""`with parpy.gpu` inside what the device runs already."""

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
