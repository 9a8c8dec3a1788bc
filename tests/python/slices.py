"""Slice statements on every back end against NumPy, for the tests of slices."""

from __future__ import annotations

import numpy as np
import pytest

import backends
import simt

rng = np.random.default_rng(3)
needs_compiler = pytest.mark.skipif(simt.COMPILER is None, reason="no C++ compiler")


def check(function, arguments, mapping=None, tolerance=0.0, on=("eval", "cpu", "simt")):
    """All back ends, without a mapping and with the one given."""
    want = simt.copies(arguments)
    with np.errstate(all="ignore"):
        function(*want, seq=True)
    for backend in on:
        if backend == "simt" and simt.COMPILER is None:
            continue
        for loops in ({}, mapping) if mapping else ({},):
            got = simt.copies(arguments)
            if backend == "simt":
                simt.run(function, got, loops)
            else:
                backends.run(backend, function, got, loops)
            for expected, actual in zip(want, got, strict=True):
                if isinstance(expected, np.ndarray):
                    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance, err_msg=backend)


def ints(*shape, dtype=np.float64):
    return rng.integers(-5, 6, shape).astype(dtype)


def places(dtype):
    """Half precision is inline assembly in CUDA text, which no CPU runs."""
    return ("eval", "cpu") if dtype == np.float16 else ("eval", "cpu", "simt")
