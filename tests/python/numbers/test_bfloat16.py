"""bfloat16 of the package ml_dtypes: elements, numbers, records and constants, in kernels and in loops."""

from __future__ import annotations

import numpy as np
import pytest

import kernel_places
import parpy
from nvrtc import cubin
from parpy import cuda

bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
backend = kernel_places.backend
RECORD = np.dtype([("a", bfloat16), ("b", np.float32)], align=True)
TABLE = np.array([1, 2, 3], bfloat16)


@cuda.jit
def computed(x, y, out):
    i = cuda.grid(1)
    if i < len(out):
        out[i] = x[i] + y[i] * 2
        if x[i] > 5 and not np.isnan(x[i]):
            out[i] = np.sqrt(x[i]) + abs(-x[i]) + np.float32(y[i])


def test_elements():
    x, y = np.arange(10).astype(bfloat16), np.full(10, 1.5, bfloat16)
    want = np.where(x > 5, np.sqrt(x) + x + y, x + y * 2)
    for place in (np.copy, cuda.to_device):
        out = place(np.zeros(10, bfloat16))
        computed.forall(10)(place(x), place(y), out)
        got = out if place is np.copy else out.copy_to_host()
        assert got.dtype == bfloat16
        np.testing.assert_allclose(got.astype(float), want.astype(float), rtol=1e-2)
    cubin(computed.inspect_source(x, y, x.copy()))


@cuda.jit
def scaled(x, factor, out):
    i = cuda.grid(1)
    out[i] = x[i] * factor


@pytest.mark.parametrize("kernel", [scaled, cuda.jit("void(bfloat16[:], bfloat16, bfloat16[:])")(scaled.py_func)])
def test_numbers(kernel):
    x = np.arange(4).astype(bfloat16)
    for factor in (bfloat16(2.5), 2.5, np.float32(2.5)):
        out = np.zeros(4, bfloat16)
        kernel[1, 4](x, factor, out)
        np.testing.assert_array_equal(out.astype(float), [0, 2.5, 5, 7.5])


@parpy.jit
def loop(x, factor, out):
    for i in range(len(x)):
        out[i] = x[i] * factor


def test_numbers_in_loops():
    out = np.zeros(4, bfloat16)
    for factor in (bfloat16(2.5), np.array(2.5, bfloat16)):
        loop(np.arange(4).astype(bfloat16), factor, out)
        np.testing.assert_array_equal(out.astype(float), [0, 2.5, 5, 7.5])


@cuda.jit
def of_blocks(x, out, sums):
    t = cuda.threadIdx.x
    shared = cuda.shared.array(32, x.dtype)
    own = cuda.local.array(1, "bfloat16")
    shared[t] = x[t]
    cuda.syncthreads()
    own[0] = cuda.shfl_xor_sync(0xFFFFFFFF, shared[t], 1)
    out[t] = own[0] + shared[31 - t]
    cuda.atomic.add(sums, 0, np.float32(1))
    cuda.atomic.max(out, 0, bfloat16_of_float(100.0))


@cuda.jit(device=True)
def bfloat16_of_float(value):
    return cuda.types.bfloat16(value)


def test_memory_of_blocks_exchanges_and_atomics():
    x, out, sums = np.arange(32).astype(bfloat16), np.zeros(32, bfloat16), np.zeros(1, bfloat16)
    of_blocks[1, 32](x, out, sums)
    want = (np.arange(32) ^ 1) + 31 - np.arange(32)
    want[0] = 100
    np.testing.assert_array_equal(out.astype(int), want)
    assert sums[0] == 32
    cubin(of_blocks.inspect_source(x, out, sums))


@cuda.jit
def of_records(r):
    i = cuda.grid(1)
    r[i].a += r[i].b
    r[2] = r[1]


@cuda.jit
def of_globals(out):
    table = cuda.const.array_like(TABLE)
    out[0] = table[1] + TABLE[2]


def test_records_and_globals():
    for place in (np.copy, cuda.to_device):
        r = place(np.array([(1, 2), (3, 4), (5, 6)], RECORD))
        of_records[1, 2](r)
        got = r if place is np.copy else r.copy_to_host()
        np.testing.assert_array_equal(got["a"].astype(int), [3, 7, 7])
    out = np.zeros(1, bfloat16)
    of_globals[1, 1](out)
    assert out[0] == 5


def test_views():
    x = np.arange(24).astype(bfloat16).reshape(4, 6)[::2, 1:]
    out = np.zeros(x.shape, bfloat16)
    scaled_rows[(1, 1), x.shape](x, out)
    np.testing.assert_array_equal(out, x)


@cuda.jit
def scaled_rows(x, out):
    i, j = cuda.grid(2)
    row = x[i]
    out[i, j] = row[j]
