"""Reductions of whole arrays in kernels and loops: those that ignore NaN, and the positions of extremes."""

from __future__ import annotations

import numpy as np
import pytest

import kernel_places
import parpy
from backends import TARGETS, options
from nvrtc import cubin
from parpy import cuda

backend = kernel_places.backend


@cuda.jit
def reduced(x, out):
    out[0], out[1], out[2], out[3] = np.nansum(x), np.nanprod(x), np.nanmin(x), np.nanmax(x)
    out[4], out[5], out[6] = np.nanmean(x), np.nanvar(x), np.nanstd(x)
    out[7], out[8], out[9] = np.argmin(x), np.argmax(x), x.argmin() + 10 * x.argmax()


@parpy.jit
def reduced_rows(x, out):
    for i in range(x.shape[0]):
        out[i, 0], out[i, 1], out[i, 2] = np.nansum(x[i]), np.nanmean(x[i]), np.nanmin(x[i, 1:])
        out[i, 3], out[i, 4], out[i, 5] = np.nanmax(x[i]), np.nanstd(x[i]), np.nanprod(x[i])


def numbers(kind, shape):
    x = (np.random.default_rng(5).random(shape) * 9 + 1).astype(kind)
    if np.dtype(kind).kind == "f":
        x[..., 1] = np.nan
    return x


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int32])
@pytest.mark.parametrize("shape", [(6,), (3, 4)])
def test_kernels(kind, shape):
    x, out = numbers(kind, shape), np.zeros(10)
    reduced[1, 1](x, out)
    wanted = [f(x) for f in (np.nansum, np.nanprod, np.nanmin, np.nanmax, np.nanmean, np.nanvar, np.nanstd)]
    wanted += [np.argmin(x), np.argmax(x), x.argmin() + 10 * x.argmax()]
    np.testing.assert_allclose(out, wanted, rtol=1e-5)


def test_nothing_but_nan():
    out = np.zeros(10)
    reduced[1, 1](np.full(3, np.nan), out)
    np.testing.assert_array_equal(out[:4], [0, 1, np.nan, np.nan])


@pytest.mark.parametrize("place", [each for each in TARGETS if each in ("cpu", "sim")])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int32])
def test_loops(place, kind):
    x, out = numbers(kind, (4, 7)), np.zeros((4, 6))
    reduced_rows(x, out, opts=options(place, {}))
    wanted = [np.nansum(x, 1), np.nanmean(x, 1), np.nanmin(x[:, 1:], 1), np.nanmax(x, 1), np.nanstd(x, 1)]
    np.testing.assert_allclose(out, np.stack([*wanted, np.nanprod(x, 1)], 1), rtol=1e-5)


def test_types_of_means():
    @parpy.jit
    def mean(x):
        return np.nanmean(x)

    for kind in (np.float32, np.float64, np.int16):
        assert np.asarray(mean(np.ones(3, kind))).dtype == np.nanmean(np.ones(3, kind)).dtype


@cuda.jit
def medians(x, out):
    i, j = cuda.grid(2)
    if 0 < i < x.shape[0] - 1 and 0 < j < x.shape[1] - 1:
        window = cuda.local.array(4, np.float64)
        for k in range(4):
            window[k] = x[i + k // 2, j + k % 2]
        out[0, i, j] = np.median(x[i - 1 : i + 2, j - 1 : j + 2])
        out[1, i, j] = np.median(x[i])
        out[2, i, j] = np.median(x[:, j])
        out[3, i, j] = np.median(window)
        out[4, i, j] = np.median(x[i, j:j])


@pytest.mark.parametrize("kind", ["f8", "f4", "i4", "u1", "nan"])
def test_medians_in_kernels(kind):
    x = np.random.default_rng(1).integers(0, 9, (6, 7)).astype("f8" if kind == "nan" else kind)
    if kind == "nan":
        x[2, 3] = np.nan
    out, wanted = np.zeros((5, 6, 7)), np.zeros((5, 6, 7))
    medians[1, (6, 7)](x, out)
    for i in range(1, 5):
        for j in range(1, 6):
            parts = x[i - 1 : i + 2, j - 1 : j + 2], x[i], x[:, j], x[i : i + 2, j : j + 2]
            wanted[:, i, j] = *map(np.median, parts), np.nan
    np.testing.assert_array_equal(out, wanted)
    cubin(medians.inspect_source(x, out))


def test_medians_of_three_dimensions():
    @cuda.jit
    def median(x, out):
        out[0] = np.median(x)

    x, out = np.random.default_rng(2).random((3, 4, 5)), np.zeros(1)
    median[1, 1](x, out)
    assert out[0] == np.median(x)


@cuda.jit
def emptied(x, value):
    own = cuda.local.array(3, np.float64)
    own.fill(value)
    x.fill(own[2])


def test_fill():
    x = np.arange(6.0).reshape(2, 3)
    emptied[1, 1](x, 4.5)
    assert x.tolist() == [[4.5] * 3] * 2
