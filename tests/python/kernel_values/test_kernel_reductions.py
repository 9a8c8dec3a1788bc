"""Reductions of whole arrays in kernels and loops: those that ignore NaN, and the positions of extremes."""

from __future__ import annotations

import numpy as np
import pytest

import kernel_places
import parpy
from backends import TARGETS, options
from nvrtc import cubin
from parpy import cuda
from parpy.library.texts import function_of

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


EXPRESSIONS = [
    "np.searchsorted(x, 0.5)", "np.searchsorted(x, x[3], side='right')", "x.searchsorted(y[2])", "np.digitize(0.5, x)",
    "np.digitize(0.5, x[::-1], right=True)", "np.interp(0.5, x, y)", "np.interp(2.0, x, y)", "np.linalg.norm(x - y)",
    "np.linalg.norm(m)", "np.trapezoid(y, x)", "np.vdot(x, y)", "np.inner(x, y)", "np.allclose(x, x + 1e-12)",
    "np.array_equal(x, y)", "np.trace(m)", "m.trace()", "np.polyval(x[:3], 0.5)", "np.average(x)",
    "np.isclose(x[0], y[0])",
    "np.angle(x[1] - 1j)", "np.angle(-x[1])", "np.sinc(x[0])", "np.sinc(0.0)", "np.nan_to_num(1 / (x[0] - x[0]))",
    "np.nan_to_num(np.nan * x[0])", "np.nan_to_num(-x[2])", "np.nan_to_num(7)", "np.quantile(x, 0.3)",
    "np.quantile(m, 1)", "np.percentile(y[1:], 25)", "np.percentile(m[:, 1], 80)",
]  # fmt: skip


@pytest.mark.parametrize("text", EXPRESSIONS)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_numbers_of_numpy_functions_in_kernels(text):
    rng = np.random.default_rng(3)
    x, y, m, out = np.sort(rng.random(8)), rng.random(8), rng.random((4, 4)), np.zeros(1)
    kernel = cuda.jit(function_of(f"def kernel(x, y, m, out):\n    out[0] = {text}\n", "kernel", f"<{text}>"))
    kernel[1, 1](x, y, m, out)
    np.testing.assert_allclose(out[0], eval(text, {"np": np, "x": x, "y": y, "m": m}), rtol=1e-14)


def test_numpy_functions_take_numbers_in_kernels():
    kernel = cuda.jit(function_of("def kernel(x):\n    x[0] = np.interp(x, x, x)[0]\n", "kernel", "<arrays>"))
    with pytest.raises(parpy.CompileError, match=r"np\.interp takes a number in kernels"):
        kernel[1, 1](np.ones(3))


@cuda.jit
def emptied(x, value):
    own = cuda.local.array(3, np.float64)
    own.fill(value)
    x.fill(own[2])


def test_fill():
    x = np.arange(6.0).reshape(2, 3)
    emptied[1, 1](x, 4.5)
    assert x.tolist() == [[4.5] * 3] * 2
