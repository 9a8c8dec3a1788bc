"""Conditions on the types of values that the function computes, and on the classes of its arguments."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options


def either(a):
    s = 0.0
    for i in range(a.shape[0]):
        x = a[i] * 2
        if x.dtype == np.float32 or x.dtype == np.float64:
            s += x[0]
        else:
            s += 100 + x[2]
    return s


def beside_others(a):
    x = a * 2
    s = 0.0
    for i in range(a.shape[0]):
        if s < 50 and not x.dtype == np.int64:
            s += x[i, 0]
        s += 1.5 if x.dtype != np.float32 and i < 2 else 0.25
    return s


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int8])
@pytest.mark.parametrize("function", [either, beside_others])
@pytest.mark.parametrize("backend", TARGETS)
def test_types_of_computed_arrays(backend, function, dtype):
    a = np.arange(12).reshape(4, 3).astype(dtype)
    assert parpy.jit(function)(a, opts=options(backend, {})) == function(a)
