"""Programs for what users of GPU ufuncs and of kernels expect, point by point, beside NumPy."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import parpy
from parpy import cuda
from ufunc_targets import DEVICES, TARGETS, on_device, on_host


def doubled(a):
    return 2 * a


def plus(a, b):
    return a + b


def price(p, dt, drift, volatility, noise):
    return p * math.exp(drift * dt + volatility * noise)


def total(row, out):
    found = 0.0
    for each in row:
        found += each
    out[0] = found


# ---------------------------------------------------------------- ufuncs


@pytest.mark.parametrize("target", TARGETS)
def test_a_strided_column_is_an_output(target):
    step = parpy.vectorize([f"float64({', '.join(['float64'] * 5)})"], target=target)(price)
    paths, prices, noises = np.zeros((6, 3)), np.arange(6.0) + 1, np.arange(6.0) / 10
    wanted = prices * np.exp(0.2 * 0.1 + 0.3 * noises)
    step(prices, 0.1, 0.2, 0.3, noises, out=paths[:, 1])
    step(prices, 0.1, 0.2, 0.3, noises, paths[:, 2])
    np.testing.assert_allclose(paths, np.stack([np.zeros(6), wanted, wanted], 1))


@pytest.mark.parametrize("target", TARGETS)
def test_several_versions_of_a_function(target):
    f = parpy.vectorize(["float32(float32, float32)", "float64(float64, float64)"], target=target)(plus)
    a = np.arange(5, dtype="f4")
    assert f(a, np.float32(1.5)).dtype == np.float32 and f(a, 1.5).dtype == np.float32
    assert f(a.astype("f8"), 1.5).dtype == np.float64 and f(a.astype("i2"), a).dtype == np.float32
    assert f(np.zeros((0, 3)), 1.0).shape == (0, 3)
    found = f(1.0, 2.0)
    assert isinstance(found, np.floating) and found == 3


@pytest.mark.parametrize("target", DEVICES)
def test_outputs_on_the_device_are_cast_by_same_kind(target):
    f = parpy.vectorize(["float64(float64)"], target=target)(doubled)
    narrow = cuda.device_array(3, np.float32)
    f(on_device(np.arange(3.0)), out=narrow)
    assert narrow.copy_to_host().tolist() == [0, 2, 4]
    with pytest.raises(TypeError, match="Cannot cast ufunc 'doubled' output"):
        f(on_device(np.arange(3.0)), out=cuda.device_array(3, np.int32))
    with pytest.raises(TypeError, match="colour"):
        f(np.arange(3.0), colour=1)


@pytest.mark.parametrize("target", DEVICES)
def test_arrays_on_the_device(target):
    f = parpy.vectorize(["float64(float64, float64)"], target=target)(plus)
    a, b = np.arange(12.0).reshape(3, 4), np.arange(4.0)
    there, row = on_device(a), on_device(b)
    np.testing.assert_array_equal(on_host(f(there, row)), a + b)  # the missing dimension comes first
    np.testing.assert_array_equal(on_host(f(there[:, ::2], row[1::2])), a[:, ::2] + b[1::2])
    np.testing.assert_array_equal(on_host(f(there, b)), a + b)
    np.testing.assert_array_equal(on_host(f(there, 2)), a + 2)
    assert on_host(f.reduce(row)) == 6 and on_host(row).tolist() == [0, 1, 2, 3]
    stream = cuda.stream()
    begin = cuda.to_device(b, stream=stream)
    end = cuda.device_array_like(begin)
    f(f(begin, begin, stream=stream), begin, out=end, stream=stream)  # the memory between them lives long enough
    np.testing.assert_array_equal(end.copy_to_host(stream=stream), 3 * b)


@pytest.mark.parametrize("target", TARGETS)
def test_types_of_generalised_functions(target):
    wide = parpy.guvectorize(["void(float64[:], float64[:])"], " ( n ) -> ( ) ", target=target)(total)
    assert wide(np.ones(3, "f4")) == 3 and wide(np.ones((2, 3), "i2")).tolist() == [3, 3]
    narrow = parpy.guvectorize(["void(float32[:], float32[:])"], "(n)->()", target=target)(total)
    with pytest.raises(TypeError):
        narrow(np.ones(3))
    with pytest.raises(TypeError, match="cannot return values"):
        parpy.guvectorize(["float32(float32[:], float32[:])"], "(n)->()", target=target)(total)


# ---------------------------------------------------------------- kernels


@cuda.jit
def added(x, amount):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += amount


def test_launches():
    x = np.zeros(5)
    added.configure(1, 8)(x, 1)
    added[1, 8](x=x, amount=1)
    added.forall(5)(x, 1)
    added.forall(5, tpb=2)(x, 1)
    added.forall(0)(x, 1)
    assert (x == 4).all()
    with pytest.raises(ValueError):
        added(x, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        added[1, 1](cuda.to_device(x), 1)  # a small grid is no reason for a warning


def test_a_signature_without_a_result():
    @cuda.jit("(float32[:], float32[:])")
    def copied(x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] = x[i]

    y = np.zeros(3, np.float32)
    copied[1, 4](np.float32([1, 2, 3]), y)
    assert y.tolist() == [1, 2, 3]
    with pytest.raises(TypeError, match=r"must be a float32\[:\], not an array of float64"):
        copied[1, 4](np.arange(3.0), y)


def test_divisions_in_kernels():
    @cuda.jit
    def divided(x, a, b, out):
        out[0], out[1] = x[0] / x[1], x[1] / x[1]
        out[2], out[3], out[4] = a / b, a // b, a % b

    out = np.zeros(5)
    divided[1, 1](np.array([1.0, 0.0]), -7, 2, out)
    assert np.isinf(out[0]) and np.isnan(out[1]) and out[2:].tolist() == [-3.5, -4, 1]


def test_atomics_return_the_old_value():
    @cuda.jit
    def updated(x, old):
        old[0], old[1] = cuda.atomic.add(x, 0, 2), cuda.atomic.sub(x, 1, 1)
        old[2], old[3] = cuda.atomic.max(x, 2, 9), cuda.atomic.min(x, 3, 1)
        old[4], old[5], old[6] = cuda.atomic.and_(x, 4, 1), cuda.atomic.or_(x, 5, 8), cuda.atomic.xor(x, 6, 3)
        old[7], old[8], old[9] = cuda.atomic.exch(x, 7, 100), cuda.atomic.inc(x, 8, 8), cuda.atomic.dec(x, 9, 4)
        old[10] = cuda.atomic.cas(x, 10, 10, 50)

    x, old = np.arange(11, dtype=np.uint32), np.zeros(11, np.uint32)
    updated[1, 1](x, old)
    assert old.tolist() == list(range(11))
    assert x.tolist() == [2, 0, 9, 1, 0, 13, 5, 100, 0, 4, 50]


# ---------------------------------------------------------------- memory


def test_memory_on_the_device():
    made = cuda.device_array(4)
    assert made.dtype == np.float64 and cuda.device_array((2, 3), np.int8).shape == (2, 3)
    cuda.to_device(np.arange(4.0), to=made)
    out = np.zeros(4)
    assert made.copy_to_host(out) is out and out.tolist() == [0, 1, 2, 3]
    for other in (np.zeros(5), np.zeros(4, np.float32)):
        with pytest.raises((TypeError, ValueError), match="cannot be copied"):
            made.copy_to_host(other)
    rows = cuda.to_device(np.arange(12.0).reshape(3, 4))
    assert rows.alloc_size == 96 and rows[1:, 1:3].alloc_size == 48 and rows[:0].alloc_size == 0
    assert rows.is_c_contiguous() and rows.T.shape == (4, 3) and rows.ravel().shape == (12,) and rows[1, 2] == 6
    assert [part.copy_to_host().tolist() for part in cuda.to_device(np.arange(4)).split(2)] == [[0, 1], [2, 3]]
    device = cuda.get_current_device()
    assert device.WARP_SIZE == 32 and device.MAX_THREADS_PER_BLOCK >= 1024 and device.MULTIPROCESSOR_COUNT >= 1
    assert len(device.compute_capability) == 2 and device.name
