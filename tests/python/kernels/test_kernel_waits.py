"""Messages of checked kernels about waits, exchanges and memory without a value, on the simulator."""

from __future__ import annotations

import re

import numpy as np
import pytest

import parpy
from nvrtc import cubin
from parpy import cuda
from parpy.cuda import cg

pytestmark = pytest.mark.usefixtures("simulator")


def found(error, function, *arguments, grid=1, block=32):
    with pytest.raises(error) as caught:
        cuda.jit(debug=True)(function)[grid, block](*arguments)
    return str(caught.value)


# ---------------------------------------------------------------- memory without a value


def missing_barrier(x, y):
    s = cuda.shared.array(1, np.float64)
    t = cuda.threadIdx.x
    if t == 31:
        s[0] = x[0]
    y[t] = s[0]


def missing_barrier_then_used(x, y):
    s = cuda.shared.array(32, np.int64)
    t = cuda.threadIdx.x
    s[31 - t] = t
    y[t] = x[s[t]]


def never_written(x):
    s = cuda.shared.array(2, np.int64)
    if cuda.threadIdx.x == 0:
        s[0] = 1
    cuda.syncthreads()
    x[s[1]] = 0


def never_written_to_the_end(x):
    s = cuda.shared.array(2, np.float64)
    x[cuda.threadIdx.x] = s[1]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_missing_barriers_are_races(seed):
    cuda.sim.seed = seed
    text = found(parpy.ParallelError, missing_barrier, np.ones(32), np.ones(32))
    assert "an element of shared memory" in text and "s[0] = x[0]" in text and "y[t] = s[0]" in text
    text = found(parpy.ParallelError, missing_barrier_then_used, np.ones(32), np.ones(32))
    assert "s[31 - t] = t" in text
    for kernel in (never_written, never_written_to_the_end):
        text = found(UnboundLocalError, kernel, np.ones(32))
        assert "P544" in text and "reads an element of shared memory" in text and "s[1]" in text


def constant_subscript(x):
    own = cuda.local.array(2, np.float64)
    own[0] = x[0]
    x[cuda.threadIdx.x] = own[1]


@cuda.jit(device=True)
def second_of(x):
    own = cuda.local.array(2, np.float64)
    if x > 0:
        own[1] = x
    own[0] = x
    return own[1]


def constant_subscript_in_a_function(x):
    x[0] = second_of(1.0)
    x[1] = second_of(x[2])


def test_unwritten_elements_with_constant_subscripts():
    text = found(UnboundLocalError, constant_subscript, np.ones(32))
    assert "a local array" in text and "x[cuda.threadIdx.x] = own[1]" in text
    text = found(UnboundLocalError, constant_subscript_in_a_function, np.zeros(3), block=1)
    assert "return own[1]" in text
    cuda.jit(debug=True)(constant_subscript_in_a_function)[1, 1](np.ones(3))


# ---------------------------------------------------------------- races


def bytes_of_a_word(x, y):
    t = cuda.threadIdx.x
    x[t] = t
    y[t] = x[3 - t]


def atomic_writer(x, y):
    s = cuda.shared.array(1, np.int32)
    t = cuda.threadIdx.x
    if t == 0:
        s[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(s, 0, 1)
    y[t] = s[0]
    y[t] += x[t]


def byte_atomics(x):
    s = cuda.shared.array(5, np.uint8)
    other = cuda.shared.array(3, np.int16)
    t = cuda.threadIdx.x
    if t == 0:
        s[4] = 0
    cuda.syncthreads()
    cuda.atomic.add(s, 4, 1)
    if t < 3:
        other[t] = t
    if t < 4:
        s[t] = t
    cuda.syncthreads()
    if t == 0:
        x[0] = s[4] + other[2] + s[3]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_bytes_are_told_apart(seed):
    cuda.sim.seed = seed
    for dtype in (np.uint8, np.int16):
        text = found(parpy.ParallelError, bytes_of_a_word, np.zeros(4, dtype), np.zeros(4), block=4)
        assert "x[t] = t" in text and "y[t] = x[3 - t]" in text
    x = np.zeros(1)
    cuda.jit(debug=True)(byte_atomics)[1, 32](x)
    assert x[0] == 32 + 2 + 3


def test_races_name_the_line_of_the_atomic():
    text = found(parpy.ParallelError, atomic_writer, np.ones(32), np.ones(32))
    assert "writes" in text and "cuda.atomic.add(s, 0, 1)" in text and "y[t] = s[0]" in text


# ---------------------------------------------------------------- exchanges


def not_in_the_mask(x):
    x[cuda.threadIdx.x] = cuda.shfl_sync(0xFFFF, x[cuda.threadIdx.x], 0)


def from_outside_of_the_mask(x):
    t = cuda.threadIdx.x
    if t < 16:
        x[t] = cuda.shfl_sync(0xFFFF, x[t], 20)


def across_the_mask(x):
    t = cuda.threadIdx.x
    if t < 16:
        x[t] = cuda.shfl_xor_sync(0xFFFF, x[t], 16)


def vote_outside(x):
    x[0] = cuda.any_sync(1, x[0] > 0)


def down_to_the_end(x, n):
    t = cuda.threadIdx.x
    if t < n:
        v = cuda.shfl_down_sync((1 << n) - 1, x[t], 4)
        if t + 4 < n:
            x[t] += v


def down_beyond_the_end(x, n):
    t = cuda.threadIdx.x
    if t < n:
        x[t] += cuda.shfl_down_sync((1 << n) - 1, x[t], 4)


def test_lanes_outside_of_the_mask():
    text = found(parpy.BackendError, not_in_the_mask, np.ones(32))
    assert "lane 16 and takes part at" in text and "mask 0xffff" in text and "cuda.shfl_sync(0xFFFF" in text
    assert "lane 1 " in found(parpy.BackendError, vote_outside, np.ones(32))
    text = found(parpy.BackendError, from_outside_of_the_mask, np.ones(32))
    assert "lane 20, which is not in the mask 0xffff" in text and "cuda.shfl_sync(0xFFFF, x[t], 20)" in text
    assert "lane 16, which" in found(parpy.BackendError, across_the_mask, np.ones(32))
    x = np.arange(32.0)
    cuda.jit(debug=True)(down_to_the_end)[1, 32](x, 10)
    np.testing.assert_array_equal(x[:10], [4, 6, 8, 10, 12, 14, 6, 7, 8, 9])
    cuda.jit(debug=True)(down_beyond_the_end)[1, 32](x, 10)
    assert np.isnan(x[6:10]).all() and not np.isnan(x[:6]).any()  # undefined, unlike any lane's value


def divergent_shuffle(x):
    t = cuda.threadIdx.x
    if t == 3:
        cuda.syncthreads()
    x[t] = cuda.shfl_down_sync(0xFFFFFFFF, x[t], 1)


def lock_never_freed(lock):
    while cuda.atomic.compare_and_swap(lock, 0, 1) != 0:
        pass


def test_waits_in_vain_name_the_line():
    text = found(parpy.BackendError, divergent_shuffle, np.ones(32))
    assert "x[t] = cuda.shfl_down_sync(0xFFFFFFFF, x[t], 1)" in text and "cuda.syncthreads()" in text
    text = found(parpy.BackendError, lock_never_freed, np.ones(1, np.int32), block=2)
    assert "while cuda.atomic.compare_and_swap(lock, 0, 1) != 0" in text


@cuda.jit
def skipped_by_a_block(x):
    if cuda.blockIdx.x != 1:
        cg.this_grid().sync()
    x[cuda.grid(1)] = 1


@cuda.jit
def once_more_in_a_block(x):
    cg.this_grid().sync()
    for _ in range(cuda.blockIdx.x):
        cg.this_grid().sync()
    x[cuda.grid(1)] = 1


@pytest.mark.parametrize("kernel", [skipped_by_a_block, once_more_in_a_block])
def test_skipped_barriers_of_the_grid_name_the_line(kernel):
    x = np.zeros(64)
    for _ in range(2):
        with pytest.raises(parpy.BackendError, match=r"test_kernel_waits.py:\d+ \(cg.this_grid\(\).sync\(\)\)"):
            kernel[2, 32](x)


def skipped_by(condition, debug=True):
    """A kernel in which some threads of a block skip a barrier of the grid; threads that exit are not waited for."""
    space = {"cuda": cuda, "cg": cg}
    text = f"def kernel(x):\n    if {condition}:\n        cg.this_grid().sync()\n    x[cuda.grid(1)] = 1\n"
    import linecache

    name = f"<skipped by {condition}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), space)
    return cuda.jit(debug=debug)(space["kernel"])


@pytest.mark.parametrize(
    "condition",
    ["cuda.threadIdx.x != 0", "cuda.threadIdx.x == 0", "cuda.grid(1) != 5", "cuda.grid(1) == 3", "cuda.blockIdx.x > 0"],
)
@pytest.mark.parametrize("debug", [False, True])
def test_skipped_barriers_of_the_grid_are_found(condition, debug):
    if not debug and condition in ("cuda.threadIdx.x == 0", "cuda.grid(1) != 5"):
        x = np.zeros(64)  # the first thread of each block arrives, which is enough on a GPU
        skipped_by(condition, debug)[2, 32](x)
        assert (x == 1).all()
        return
    with pytest.raises(parpy.BackendError, match=r"has left the kernel|for something that no thread does") as caught:
        skipped_by(condition, debug)[2, 32](np.zeros(64))
    text = str(caught.value)
    assert f"<skipped by {condition}>:3" in text and "of block (" in text and "thread (" in text


def flag_without_atomics(flag, x):
    if cuda.grid(1) == 0:
        while flag[0] == 0:
            pass
        x[0] += 1
    elif cuda.grid(1) == cuda.gridsize(1) - 1:
        x[0] = 1
        cuda.threadfence()
        flag[0] = 1


def flag_that_nobody_sets(flag, x):
    while flag[0] == 0 and x[0] == 0:
        pass


@pytest.mark.parametrize(("grid", "block"), [(1, 64), (4, 8)])
@pytest.mark.parametrize("seed", [0, 1])
def test_waiting_without_atomics(grid, block, seed):
    cuda.sim.seed = seed
    text = found(parpy.ParallelError, flag_without_atomics, np.zeros(1, np.int32), np.zeros(1), grid=grid, block=block)
    assert "flag[0] == 0" in text and ("flag[0] = 1" in text)


def test_waiting_for_what_nobody_writes():
    text = found(parpy.BackendError, flag_that_nobody_sets, np.zeros(1, np.int32), np.zeros(1), block=2)
    assert "repeatedly" in text and "while flag[0] == 0 and x[0] == 0" in text


@cuda.jit(debug=True)
def gathered_in_place(x, k):
    i = cuda.grid(1)
    v = x[k[i]]
    cg.this_grid().sync()
    x[i] = v


def test_failures_in_grids_that_wait():
    x, k = np.arange(64.0), np.arange(64)[::-1].copy()
    text = gathered_in_place.inspect_source(x, k)
    assert "\n    grid_barrier_or_leave();" in text
    cubin(text)
    gathered_in_place[4, 16](x, k)
    np.testing.assert_array_equal(x, k)
    k[20] = 64
    with pytest.raises(IndexError, match="subscript 64 is out of bounds"):
        gathered_in_place[4, 16](x, k)
    np.testing.assert_array_equal(x, np.arange(64.0)[::-1])


# ---------------------------------------------------------------- who is active


@cuda.jit
def who_is_active(out):
    t = cuda.grid(1)
    out[t, 0] = cuda.activemask()
    if t % 4 == 0:
        out[t, 1] = cuda.activemask()
        mask = cuda.activemask()
        out[t, 2] = cuda.shfl_sync(mask, t, 8 * (t // 8 % 2))
    else:
        out[t, 1] = cuda.activemask()
    if t >= 40:
        return
    out[t, 3] = cuda.activemask()
    cuda.syncthreads()


@cuda.jit
def lock_of_a_lane(lock, out):
    while cuda.atomic.compare_and_swap(lock, 0, 1) != 0:
        pass
    out[cuda.grid(1)] = cuda.popc(cuda.activemask())
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_lanes_that_run_in_step(seed):
    cuda.sim.seed = seed
    out = np.zeros((48, 4), np.uint32)
    who_is_active[1, 48](out)
    t = np.arange(48)
    np.testing.assert_array_equal(out[:, 0], np.where(t < 32, 0xFFFFFFFF, 0xFFFF))
    fours = np.where(t < 32, 0x11111111, 0x1111)
    np.testing.assert_array_equal(out[:, 1], np.where(t % 4 == 0, fours, np.where(t < 32, 0xFFFFFFFF, 0xFFFF) - fours))
    np.testing.assert_array_equal(out[:40, 3], np.where(t < 32, 0xFFFFFFFF, 0xFF)[:40])
    out = np.zeros(64, np.int32)
    lock_of_a_lane[2, 32](np.zeros(1, np.int32), out)
    assert out.min() >= 1


# ---------------------------------------------------------------- stacks


@cuda.jit(device=True)
def down(n):
    if n == 0:
        return 0
    return down(n - 1) + 1


@cuda.jit
def recurse(x, depth):
    x[cuda.grid(1)] = down(depth)


@cuda.jit
def large_array(x):
    own = cuda.local.array(100_000, np.float64)
    t = cuda.grid(1)
    for i in range(100_000):
        own[i] = i + t
    cuda.syncthreads()
    x[t] = own[(7919 * (t + 1)) % 100_000]


@cuda.jit
def too_large_array(x):
    own = cuda.local.array(10_000_000, np.float64)
    t = cuda.grid(1)
    own[t * 1000] = t
    own[9_999_999 - t] = t
    cuda.syncthreads()
    x[t] = own[t * 1000]


def test_deep_stacks():
    x = np.zeros(64)
    recurse[2, 32](x, 2000)
    assert (x == 2000).all()
    with pytest.raises(RecursionError, match="down"):
        recurse[2, 32](x, 1_000_000)
    recurse[2, 32](x, 10)
    assert (x == 10).all()


@pytest.mark.parametrize("debug", [False, True])
def test_large_local_arrays(debug):
    x = np.zeros(8)
    cuda.jit(debug=debug)(large_array.py_func if not debug else few_of_a_large_array)[1, 8](x)
    t = np.arange(8)
    np.testing.assert_array_equal(x, 7919 * (t + 1) % 100_000 + t)
    for _ in range(2):
        with pytest.raises(parpy.BackendError, match=re.escape("used up its stack of 2048 KiB")):
            cuda.jit(debug=debug)(too_large_array.py_func)[1, 8](x)


def few_of_a_large_array(x):
    own = cuda.local.array(100_000, np.float64)
    t = cuda.grid(1)
    i = (7919 * (t + 1)) % 100_000
    own[i] = i + t
    x[t] = own[i]


def array_of(space, size):
    def kernel(x):
        own = space(size, np.float32)
        own[cuda.threadIdx.x] = 1
        cuda.syncthreads()
        x[0] = own[0]

    return cuda.jit(kernel)


@pytest.mark.parametrize("size", [2**30 + 16, 10**9, 2**32])
def test_static_shared_memory_of_gigabytes(size):
    x = np.zeros(4)
    kernel = array_of(cuda.shared.array, size)
    with pytest.raises(parpy.BackendError, match=f"P531.*with {4 * size} bytes of shared memory"):
        kernel[1, 32](x)
    assert kernel.get_shared_mem_per_block(x) == 4 * size
    assert x[0] == 0


@pytest.mark.parametrize("space", [cuda.shared.array, cuda.local.array])
@pytest.mark.parametrize("size", [2**62, 2**64])
def test_arrays_that_no_memory_holds(size, space):
    with pytest.raises(parpy.CompileError, match=f"test_kernel_waits.py:.*no memory holds an array of {size} elements"):
        array_of(space, size)[1, 32](np.zeros(4))


# ---------------------------------------------------------------- grids that wait


@cuda.jit
def turned(x, y):
    i = cuda.grid(1)
    x[i] = i
    cg.this_grid().sync()
    y[i] = x[(i + 4097) % x.shape[0]]


@cuda.jit
def turned_deeply(x, y, depth):
    i = cuda.grid(1)
    x[i] = i + down(depth)
    cg.this_grid().sync()
    y[i] = x[(i + 4097) % x.shape[0]] - depth


@cuda.jit
def some_wait(x, missing):
    if cuda.blockIdx.x != missing:
        cg.this_grid().sync()
    x[cuda.grid(1)] = 1


def turned_right(kernel, grid, block, *more):
    n = grid * block
    x, y = np.zeros(n), np.zeros(n)
    kernel[grid, block](x, y, *more)
    np.testing.assert_array_equal(y, (np.arange(n) + 4097) % n)


@pytest.mark.parametrize("grid, block", [(14, 1024), (15, 1000), (16, 1024), (132, 128), (132, 256), (400, 32)])
def test_grids_of_many_threads_wait(grid, block):
    turned_right(turned, grid, block)
    turned_right(turned, 4, 64)
    turned_right(turned_deeply, 4, 64, 3000)


def test_grids_of_more_threads_than_find_room():
    for kernel, more, most in ((turned, (), 320), (turned_deeply, (10,), 20)):
        x = np.zeros((most + 1) * 1024)
        assert kernel.max_cooperative_grid_blocks(1024, x, x, *more) == most
        assert kernel.max_cooperative_grid_blocks((32, 32), x, x, *more, dynsmemsize=1 << 20) == 0
        with pytest.raises(parpy.BackendError, match=f"P531.*[^$]*{most} blocks of this size"):
            kernel[most + 1, 1024](x, x, *more)
        assert not x.any()
        turned_right(kernel, 4, 64, *more)
    turned_right(turned_deeply, 20, 1024, 10)


def test_a_grid_that_waited_in_vain_waits_again():
    x = np.zeros(64)
    with pytest.raises(parpy.BackendError, match="P540"):
        some_wait[4, 16](x, 2)
    some_wait[4, 16](x, 4)
    assert x.all()
