"""The types of computed arrays in comparisons."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options


def compared(x):
    return (
        (x * 2).dtype == np.uint8, (-x).dtype == x.dtype, (x / 2).dtype == np.float64, (x * 1.5).dtype != np.float32,
        (x > 1).dtype == bool,
    )  # fmt: skip


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float32, np.float64])
def test_dtypes(backend, dtype):
    x = np.arange(4, dtype=dtype)
    assert parpy.jit(compared)(x, opts=options(backend, {})) == compared(x)
