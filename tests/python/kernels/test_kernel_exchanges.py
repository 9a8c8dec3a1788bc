"""Kernels whose threads exchange values: shuffles, votes, barriers that count, atomics, locks."""

from __future__ import annotations

import numpy as np
import pytest

import kernel_places
from parpy import cuda

backend = kernel_places.backend
rng = np.random.default_rng(11)


# ---------------------------------------------------------------- warps


@cuda.jit
def warp_sum(x, out):
    v = x[cuda.grid(1)]
    step = 16
    while step > 0:
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, step)
        step //= 2
    if cuda.laneid == 0:
        out[cuda.grid(1) // 32] = v


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64, np.complex64, np.float16])
def test_shuffles(dtype):
    x, out = rng.integers(-5, 6, 128).astype(dtype), np.zeros(4, dtype)
    warp_sum[2, 64](x, out)
    np.testing.assert_array_equal(out, x.reshape(4, 32).sum(1))


@cuda.jit
def exchanges(x, out):
    i = cuda.grid(1)
    full = 0xFFFFFFFF
    out[i, 0] = cuda.shfl_sync(full, x[i], 3)
    out[i, 1] = cuda.shfl_up_sync(full, x[i], 2)
    out[i, 2] = cuda.shfl_xor_sync(full, x[i], 5)
    out[i, 3] = cuda.ballot_sync(full, x[i] > 0)
    out[i, 4] = cuda.all_sync(full, x[i] > -10)
    out[i, 5] = cuda.any_sync(full, x[i] > 10)
    out[i, 6] = cuda.match_any_sync(full, x[i])
    _mask, same = cuda.match_all_sync(full, x[i])
    out[i, 7] = same
    out[i, 8] = cuda.eq_sync(full, x[i] > 10)
    out[i, 9] = cuda.popc(cuda.lanemask_lt())
    cuda.syncwarp()


def test_exchanges():
    x = rng.integers(-3, 4, 32).astype(np.int32)
    out = np.zeros((32, 10), np.int64)
    exchanges[1, 32](x, out)
    lane = np.arange(32)
    np.testing.assert_array_equal(out[:, 0], x[3])
    np.testing.assert_array_equal(out[:, 1], np.where(lane < 2, x, x[lane - 2]))
    np.testing.assert_array_equal(out[:, 2], x[lane ^ 5])
    assert (out[:, 3] == sum(1 << int(k) for k in lane if x[k] > 0)).all()
    assert (out[:, 4] == 1).all() and (out[:, 5] == 0).all()
    assert [sum(1 << int(k) for k in lane if x[k] == v) for v in x] == out[:, 6].tolist()
    assert (out[:, 7] == 0).all() and (out[:, 8] == 1).all()
    np.testing.assert_array_equal(out[:, 9], lane)


@cuda.jit
def counts(x, out):
    i = cuda.threadIdx.x
    out[i, 0] = cuda.syncthreads_count(x[i] > 0)
    out[i, 1] = cuda.syncthreads_and(x[i] > 0)
    out[i, 2] = cuda.syncthreads_or(x[i] > 0)


def test_barriers_that_count():
    x, out = np.arange(-10, 86), np.zeros((96, 3), np.int32)
    counts[1, 96](x, out)
    assert (out == [85, 0, 1]).all()


@cuda.jit
def lanes(out):
    i = cuda.grid(1)
    out[i, 0], out[i, 1] = cuda.laneid, cuda.warpsize
    out[i, 2] = cuda.shfl_sync(0xFFFFFFFF, i, 0)


def test_smaller_warps():
    if not cuda.sim.enabled:
        pytest.skip("a GPU has warps of 32")
    cuda.sim.warp_size = 8
    out = np.zeros((32, 3), np.int64)
    lanes[2, 16](out)
    i = np.arange(32)
    np.testing.assert_array_equal(out, np.stack([i % 8, np.full(32, 8), i // 8 * 8], 1))


# ---------------------------------------------------------------- atomics


@cuda.jit
def histogram(x, bins):
    mine = cuda.shared.array(10, np.int32)
    t = cuda.threadIdx.x
    if t < 10:
        mine[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    while i < len(x):
        cuda.atomic.add(mine, x[i], 1)
        i += cuda.gridsize(1)
    cuda.syncthreads()
    if t < 10:
        cuda.atomic.add(bins, t, mine[t])


@pytest.mark.parametrize("seed", [0, 1])
def test_histogram(seed):
    cuda.sim.seed = seed
    x, bins = rng.integers(0, 10, 5000), np.zeros(10, np.int32)
    histogram[4, 128](x, bins)
    np.testing.assert_array_equal(bins, np.bincount(x, minlength=10))


@cuda.jit
def all_atomics(out, old):
    i = cuda.grid(1)
    old[0, i] = cuda.atomic.add(out, 0, 2)
    cuda.atomic.sub(out, 1, 3)
    cuda.atomic.min(out, 2, i - 50)
    cuda.atomic.max(out, 3, i)
    old[1, i] = cuda.atomic.exch(out, 4, i)


@pytest.mark.parametrize(
    "dtype", [np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64, np.int16, np.uint8, np.float16]
)
def test_atomics(dtype):
    start = [0, 1000, 500, 5, 7] if np.dtype(dtype).itemsize > 2 else [0, 220, 100, 5, 7]
    out, old = np.array(start, dtype), np.zeros((2, 64), dtype)
    with np.errstate(all="ignore"):
        least = (np.arange(64) - 50).astype(dtype).min() if np.dtype(dtype).kind != "u" else None
    if least is None:
        return
    all_atomics[2, 32](out, old)
    assert out[0] == 128 and out[1] == start[1] - 192 and out[3] == 63
    assert out[2] == least
    assert sorted(old[0].tolist()) == list(range(0, 128, 2))
    assert sorted([*old[1].tolist(), out[4]]) == sorted([*range(64), 7])


@cuda.jit
def lesser_and_greater(least, greatest, least_number, greatest_number, x, old):
    i = cuda.threadIdx.x
    cuda.atomic.min(least, i, x[i])
    old[i] = cuda.atomic.max(greatest, i, x[i])
    cuda.atomic.nanmin(least_number, i, x[i])
    cuda.atomic.nanmax(greatest_number, i, x[i])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_atomics_of_what_is_no_number(dtype):
    nan = np.nan
    start, x = np.array([nan, 1, 1, 3, nan], dtype), np.array([2, nan, 3, 1, nan], dtype)
    results, old = [start.copy() for _ in range(4)], np.zeros(5, dtype)
    lesser_and_greater[1, 5](*results, x, old)
    np.testing.assert_array_equal(results[0], np.array([nan, 1, 1, 1, nan], dtype))
    np.testing.assert_array_equal(results[1], np.array([nan, 1, 3, 3, nan], dtype))
    np.testing.assert_array_equal(results[2], np.fmin(start, x))
    np.testing.assert_array_equal(results[3], np.fmax(start, x))
    np.testing.assert_array_equal(old, start)


def test_whole_numbers_are_all_numbers():
    results, old = [np.full(2, 4, np.int32) for _ in range(4)], np.zeros(2, np.int32)
    lesser_and_greater[1, 2](*results, np.array([2, 6], np.int32), old)
    assert [each.tolist() for each in results] == [[2, 4], [4, 6], [2, 4], [4, 6]]


@cuda.jit
def bit_atomics(out):
    i = cuda.grid(1)
    cuda.atomic.or_(out, 0, 1 << (i % 30))
    cuda.atomic.and_(out, 1, ~(1 << (i % 30)))
    cuda.atomic.xor(out, 2, 1 << (i % 30))
    cuda.atomic.inc(out, 3, 9)
    cuda.atomic.dec(out, (4,), 9)
    cuda.atomic.cas(out, 5, i, i + 1)


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
def test_bit_atomics(dtype):
    out = np.array([0, 2**30 - 1, 0, 0, 0, 0], dtype)
    bit_atomics[1, 30](out)
    assert out[:5].tolist() == [2**30 - 1, 0, 2**30 - 1, 0, 0]
    assert 0 < out[5] <= 30


@cuda.jit
def locked(counter, lock):
    while cuda.atomic.compare_and_swap(lock, 0, 1) != 0:
        pass
    counter[0] += 1
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)


def test_a_lock_between_blocks():
    counter, lock = np.zeros(1, np.int32), np.zeros(1, np.int32)
    locked[20, 1](counter, lock)
    assert counter[0] == 20


def complex_sums(dtype):
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        s = cuda.shared.array(1, dtype)
        if cuda.threadIdx.x == 0:
            s[0] = 0
        cuda.syncthreads()
        cuda.atomic.add(s, 0, x[i])
        cuda.atomic.sub(out, 1, x[i])
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(out, 0, s[0])

    return kernel


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_atomic_sums_of_complex_numbers(dtype):
    x = (rng.integers(-5, 6, 256) + 1j * rng.integers(-5, 6, 256)).astype(dtype)
    out = np.zeros(2, dtype)
    complex_sums(dtype)[4, 64](x, out)
    np.testing.assert_array_equal(out, [x.sum(), -x.sum()])


@cuda.jit
def all_lanes(x, out):
    i = cuda.grid(1)
    v = cuda.shfl_down_sync(-1, x[i], 1)
    v += cuda.shfl_xor_sync(-1, x[i], 1)
    cuda.syncwarp(-1)
    out[i] = v + cuda.popc(cuda.ballot_sync(-1, x[i] > 3))
    every, same = cuda.match_all_sync(-1, i // 32)
    out[i] += cuda.popc(every) * same + cuda.eq_sync(-1, i >= 0)


def test_minus_one_is_all_lanes():
    x, out = np.arange(32), np.zeros(32, np.int64)
    all_lanes[1, 32](x, out)
    np.testing.assert_array_equal(out, np.minimum(x + 1, 31) + (x ^ 1) + 28 + 32 + 1)
