"""Recipes for libraries that call functions of arrays: dask, xarray and pandas-like blocks."""

from __future__ import annotations

import numpy as np
import pytest

import parpy


@parpy.jit
def smooth(x):
    out = x.copy()
    for i in range(1, len(x) - 1):
        out[i] = (x[i - 1] + x[i] + x[i + 1]) / 3
    return out


@parpy.guvectorize(["void(float64[:], float64[:])"], "(n)->()", target="cpu")
def roughness(x, out):
    s = 0.0
    for i in range(1, len(x)):
        s += abs(x[i] - x[i - 1])
    out[0] = s


@parpy.vectorize(["float64(float64, float64)"], target="parallel")
def capped(a, b):
    return min(a * a, b)


def test_map_blocks_of_dask():
    da = pytest.importorskip("dask.array")
    x = np.random.default_rng(0).random(40)
    blocks = da.from_array(x, chunks=10)
    found = blocks.map_overlap(smooth, depth=1, boundary="none", dtype=x.dtype).compute(scheduler="threads")
    np.testing.assert_allclose(found, smooth(x))


def test_ufuncs_of_dask():
    da = pytest.importorskip("dask.array")
    x = np.random.default_rng(1).random((20, 30))
    blocks = da.from_array(x, chunks=(5, 30))
    np.testing.assert_array_equal(capped(blocks, 0.3).compute(), np.minimum(x * x, 0.3))
    rows = da.apply_gufunc(roughness, "(n)->()", blocks, output_dtypes=float).compute()
    np.testing.assert_array_equal(rows, roughness(x))
    np.testing.assert_allclose(rows, np.abs(np.diff(x)).sum(1))


def test_apply_ufunc_of_xarray():
    xr = pytest.importorskip("xarray")
    x = np.random.default_rng(2).random((4, 50))
    data = xr.DataArray(x, dims=("station", "time"), coords={"station": list("abcd")})
    found = xr.apply_ufunc(roughness, data, input_core_dims=[["time"]])
    assert found.dims == ("station",)
    np.testing.assert_allclose(found, np.abs(np.diff(x)).sum(1))
    rows = xr.apply_ufunc(smooth, data, input_core_dims=[["time"]], output_core_dims=[["time"]], vectorize=True)
    np.testing.assert_allclose(rows, np.stack([smooth(row) for row in x]))
    np.testing.assert_array_equal(capped(data, 0.5), np.minimum(x * x, 0.5))


def test_apply_ufunc_over_dask():
    xr, _ = pytest.importorskip("xarray"), pytest.importorskip("dask.array")
    x = np.random.default_rng(3).random((6, 20))
    data = xr.DataArray(x, dims=("station", "time")).chunk({"station": 2})
    found = xr.apply_ufunc(
        roughness, data, input_core_dims=[["time"]], dask="parallelized", output_dtypes=[float]
    ).compute()
    np.testing.assert_allclose(found, np.abs(np.diff(x)).sum(1))
