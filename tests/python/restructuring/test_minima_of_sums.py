"""Minima and maxima of sums of two factors, and sums of some rows and columns alone, by tiles on GPUs."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, copies

M, N, K = 130, 126, 30
GPUS = TARGETS[1:]  # the simulator, and a GPU if there is one


def least(A, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] = min(C[i, j], A[i, k] + B[k, j])


def greatest(A, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] = np.maximum(C[i, j], A[i, k] + B[k, j])


def some_rows(A, B, C, n):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                if i >= n and j != 3:
                    C[i, j] += A[i, k] * B[k, j]


def rows_above(A, B, C):
    """The condition guards a row that does not exist."""
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                if i > 0:
                    C[i, j] += A[i - 1, k] * B[k, j]


def data(dtype, m=M, n=N, k=K):
    rng = np.random.default_rng(m + n + k)
    return tuple(rng.integers(-50, 50, shape).astype(dtype) for shape in ((m, k), (k, n), (m, n)))


def check(backend, function, given, tiles=None):
    opts = parpy.auto(backend=parpy.CompileBackend(backend))
    want, got = copies(given), copies(given)
    with np.errstate(all="ignore"):
        function(*want)
    compiled = parpy.jit(function)
    compiled(*got, opts=opts)
    for a, b in zip(want, got, strict=True):
        np.testing.assert_array_equal(b, a)
    if tiles is not None:
        assert ("in tiles of" in " ".join(str(parpy.explain(compiled, *given, opts=opts)).split())) == tiles


@pytest.mark.parametrize("backend", GPUS)
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_types(backend, dtype):
    check(backend, least if dtype in (np.int32, np.float64) else greatest, data(dtype), tiles=True)


@pytest.mark.parametrize("backend", GPUS)
def test_sums_without_factors_and_one_factor(backend):
    check(backend, least, data(np.int32, k=0))
    check(backend, least, data(np.int32, k=1))
    check(backend, greatest, data(np.int32, m=0))
    check(backend, least, data(np.int32, k=K + 1), tiles=True)  # the last part of the steps is padded


@pytest.mark.parametrize("backend", GPUS)
@pytest.mark.parametrize("function", [least, greatest])
def test_nan_infinities_and_zeros(backend, function):
    """Python's min keeps a NaN among the sums, NumPy's maximum takes any."""
    A, B, C = data(np.float64)
    A[3, 5], A[4], B[:, 7], B[2, 9] = np.nan, np.inf, -np.inf, np.nan
    C[1, 2], C[5], A[:, 11], B[11] = np.nan, np.inf, 0.0, -0.0
    check(backend, function, (A, B, C), tiles=True)


@pytest.mark.parametrize("backend", GPUS)
def test_least_and_greatest_integers(backend):
    A, B, C = data(np.int32)
    A[2, 3], B[4, 5] = 2**31 - 51, -(2**31) + 50
    C[:] = 2**31 - 1
    check(backend, least, (A, B, C), tiles=True)


@pytest.mark.parametrize("backend", GPUS)
def test_strides_and_shared_memory(backend):
    A, B, C = data(np.int32)
    check(backend, least, (A[::-1], np.asfortranarray(B), C[:, ::-1]))
    wide = data(np.int32, 2 * M, 2 * N, 2 * K)
    check(backend, least, (wide[0][::2, ::2], wide[1][1::2, ::2], wide[2][::2, 1::2]))
    square = data(np.int32, K, K, K)
    memory = square[0]
    opts = parpy.auto(backend=parpy.CompileBackend(backend))
    want, got = memory.copy(), memory.copy()
    least(want, square[1], want)  # the sums are factors, too
    parpy.jit(least)(got, square[1], got, opts=opts)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("backend", GPUS)
@pytest.mark.parametrize("n", [-1, 0, 5, M, M + 3])
def test_conditions_on_rows_and_columns(backend, n):
    check(backend, some_rows, (*data(np.float64), n), tiles=True)


@pytest.mark.parametrize("backend", GPUS)
def test_a_condition_that_guards_factors(backend):
    check(backend, rows_above, data(np.float64), tiles=False)
