"""Slice statements on every back end against NumPy, for the tests of slices."""

from __future__ import annotations

import numpy as np

import backends

rng = np.random.default_rng(3)


def check(function, arguments, mapping=None, tolerance=0.0, on=backends.NAMES):
    """Runs the function on all back ends, without a mapping and with the given one."""
    want = backends.copies(arguments)
    with np.errstate(all="ignore"):
        function(*want, seq=True)
    for backend in on:
        for loops in ({}, mapping) if mapping else ({},):
            got = backends.copies(arguments)
            backends.run(backend, function, got, loops)
            for expected, actual in zip(want, got, strict=True):
                if isinstance(expected, np.ndarray):
                    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance, err_msg=backend)


def ints(*shape, dtype=np.float64):
    return rng.integers(-5, 6, shape).astype(dtype)
