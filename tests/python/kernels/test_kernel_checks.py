"""Faults that the simulator finds in kernels of ``cuda.jit(debug=True)``, and correct programs that it must not
report."""

from __future__ import annotations

import linecache
import time

import numpy as np
import pytest

import parpy
import test_kernels as kernels
from parpy import cuda
from parpy.cuda import cg

pytestmark = pytest.mark.usefixtures("simulator")


def found(error, function, *arguments, grid=1, block=32):
    with pytest.raises(error) as caught:
        cuda.jit(debug=True)(function)[grid, block](*arguments)
    return str(caught.value)


@cuda.jit(debug=True)
def careless(x, k, bins):
    s = cuda.shared.array(16, np.int32)
    i = cuda.grid(1)
    assert x[0] > 0, "x begins with a positive number"
    s[cuda.threadIdx.x] = i
    cuda.syncthreads()
    cuda.atomic.add(bins, k[i], s[0])


def test_subscripts_and_assertions():
    k, bins = np.arange(32) % 4, np.zeros(4, np.int32)
    careless[2, 16](np.ones(1), k, bins)
    assert bins.sum() == 16 * 16
    k[21] = 4
    with pytest.raises(
        IndexError, match="subscript 4 is out of bounds for axis 0 of 'bins', whose size is 4"
    ) as caught:
        careless[2, 16](np.ones(1), k, bins)
    assert "thread (5, 0, 0) of block (1, 0, 0) of kernel 'careless_kernel'" in str(caught.value)
    assert "cuda.atomic.add(bins, k[i], s[0])" in str(caught.value)
    with pytest.raises(IndexError, match="of 'k'"):
        careless[3, 16](np.ones(1), np.zeros(40, int), bins)
    with pytest.raises(AssertionError, match="x begins with a positive number"):
        careless[1, 16](np.zeros(1), k, bins)


# ---------------------------------------------------------------- subscripts, without debug


def forgotten_guard(x):
    i = cuda.grid(1)
    x[i] = i


def read_beyond(x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = x[i]


def atomic_beyond(x):
    cuda.atomic.add(x, cuda.grid(1), 1)


def before_the_first(x):
    x[-1 - cuda.grid(1)] = 1


def beyond_shared(x):
    s = cuda.shared.array(16, np.float64)
    s[cuda.threadIdx.x] = x[0]
    cuda.syncthreads()
    x[0] = s[0]


def beyond_dynamic(x):
    s = cuda.shared.array(0, np.float64)
    s[cuda.threadIdx.x] = x[0]


def beyond_local(x):
    own = cuda.local.array(16, np.float64)
    own[cuda.threadIdx.x] = x[0]
    x[0] = own[0]


@cuda.jit(device=True)
def set_element(row, i):
    row[i] = i


def beyond_in_a_function(x):
    set_element(x, cuda.threadIdx.x)


BEYOND = [
    (forgotten_guard, (np.zeros(20),), "subscript 20 is out of bounds for axis 0 of 'x', whose size is 20"),
    (read_beyond, (np.zeros(9), np.zeros(30)), "subscript 9 is out of bounds for axis 0 of 'x', whose size is 9"),
    (atomic_beyond, (np.zeros(31, np.int8),), "subscript 31 is out of bounds for axis 0 of 'x'"),
    (before_the_first, (np.zeros(31),), "subscript -32 is out of bounds for axis 0 of 'x'"),
    (beyond_shared, (np.zeros(1),), "subscript 16 is out of bounds for axis 0 of 's', whose size is 16"),
    (beyond_dynamic, (np.zeros(1),), "subscript 0 is out of bounds for axis 0 of 's', whose size is 0"),
    (beyond_local, (np.zeros(1),), "subscript 16 is out of bounds for axis 0 of 'own', whose size is 16"),
    (beyond_in_a_function, (np.zeros(20),), "subscript 20 is out of bounds for axis 0 of 'row'"),
]


@pytest.mark.parametrize("case", BEYOND, ids=lambda case: case[0].__name__)
@pytest.mark.parametrize("place", ["host", "device"])
def test_subscripts_are_checked_without_debug(case, place):
    function, arguments, expected = case
    if place == "device":
        arguments = [cuda.to_device(each) for each in arguments]
    with pytest.raises(IndexError, match="P421") as caught:
        cuda.jit(function)[1, 32](*arguments)
    assert expected in str(caught.value) and f"of kernel '{function.__name__}_kernel'" in str(caught.value)
    assert f"{caught.value.args[0]}".startswith(__file__)


def neighbours(x, y):
    i = cuda.grid(1)
    if i > 0 and i < x.size - 1:
        y[i] = x[i - 1] + x[i + 1]


def test_checked_subscripts_of_neighbours():
    # Blocks of several shapes: the checks decide how rows are divided.
    kernel = cuda.jit(neighbours)
    x = np.arange(1000.0)
    for block in (7, 32, 256):
        y = np.zeros(1000)
        kernel[1000 // block + 1, block](x, y)
        np.testing.assert_array_equal(y[1:-1], 2 * x[1:-1])
        assert y[0] == y[-1] == 0
    with pytest.raises(IndexError, match="subscript 990 is out of bounds for axis 0 of 'y', whose size is 990"):
        kernel[4, 256](x, np.zeros(990))
    kernel[4, 256](x[:991], np.zeros(990))


@cuda.jit(device=True)
def set_every_third(row, i):
    row[i] = 1
    if i < 15:
        set_every_third(row, i + 3)


@cuda.jit
def recursive_beyond(x):
    if cuda.threadIdx.y == 2 and cuda.threadIdx.x == 3 and cuda.blockIdx.x == 1:
        set_every_third(x, cuda.threadIdx.x)


def test_recursive_functions_say_which_thread_failed():
    x = np.zeros(16)
    recursive_beyond[2, (8, 4)](x)
    np.testing.assert_array_equal(np.flatnonzero(x), [3, 6, 9, 12, 15])
    with pytest.raises(IndexError, match="subscript 12 is out of bounds for axis 0 of 'row'") as caught:
        recursive_beyond[2, (8, 4)](x[:10])
    assert "thread (3, 2, 0) of block (1, 0, 0) of kernel 'recursive_beyond_kernel'" in str(caught.value)


TO_ONE = "y[0] = {sum}"
TO_EACH = "i = cuda.grid(1)\n    if i < y.size:\n        y[i] = {sum}"


def sum_of(body, terms, first):
    body = body.format(sum=" + ".join(f"x[{first + i}]" for i in range(terms)))
    text, file = f"def total(x, y):\n    {body}\n", f"<{hash(body)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = {"cuda": cuda}
    exec(compile(text, file, "exec"), names)
    return cuda.jit(names["total"])


@pytest.mark.clock
@pytest.mark.parametrize("body", [TO_ONE, TO_EACH], ids=["one", "each"])
def test_compile_time_grows_with_the_number_of_subscripts(body):
    def seconds(terms, first):
        kernel, x, y = sum_of(body, terms, first), np.arange(400.0), np.zeros(1)
        start = time.perf_counter()
        kernel[1, 32](x, y)
        elapsed = time.perf_counter() - start
        assert y[0] == x[first : first + terms].sum()
        return elapsed

    few, many = (min(seconds(terms, first) for first in range(3)) for terms in (60, 300))
    assert many < 14 * few  # five times as many; once it was 27 times and more


@cuda.jit
def divergent(x):
    if cuda.threadIdx.x < 5:
        cuda.syncthreads()
    x[cuda.threadIdx.x] = cuda.syncthreads_count(True)


def test_divergent_barriers_are_found_without_debug():
    with pytest.raises(parpy.BackendError, match="wait for each other"):
        divergent[1, 32](np.zeros(32))


def skipped(x):
    t = cuda.threadIdx.x
    if t > 16:
        return
    x[t] = 1
    cuda.syncthreads()
    x[t] += x[16 - t]


def test_skipped_barriers():
    text = found(parpy.BackendError, skipped, np.ones(32))
    assert "thread (17, 0, 0) of block (0, 0, 0) has left the kernel" in text
    assert "thread (0, 0, 0) waits for it at test_kernel_checks.py:" in text


# ---------------------------------------------------------------- races


def no_barrier(x, y):
    s = cuda.shared.array(32, np.float64)
    t = cuda.threadIdx.x
    s[t] = 0
    cuda.syncthreads()
    s[t] = x[t]
    y[t] = s[31 - t]


def one_cell(x):
    x[0] += cuda.blockIdx.x


def lock_without_fence(counter, lock):
    while cuda.atomic.compare_and_swap(lock, 0, 1) != 0:
        pass
    counter[0] += 1
    cuda.atomic.exch(lock, 0, 0)


def reset_by_one(x):
    cuda.atomic.add(x, 0, 1)
    if cuda.threadIdx.x == 31:
        x[0] = 0


def read_before(x, y):
    y[cuda.threadIdx.x] = x[0] if cuda.threadIdx.x == 0 else 0
    cuda.atomic.add(x, 0, 1)


def read_after(x, y):
    cuda.atomic.add(x, 0, 1)
    y[cuda.threadIdx.x] = x[0]


@cuda.jit(device=True)
def opposite(s, t):
    return s[31 - t]


def in_a_function(x, y):
    s = cuda.shared.array(32, np.float64)
    t = cuda.threadIdx.x
    s[t] = s[t] if t < 0 else x[t]
    cuda.syncthreads()
    y[t] = opposite(s, t)
    s[t] = 0


@pytest.mark.parametrize("seed", [0, 1])
def test_races(seed):
    cuda.sim.seed = seed
    text = found(parpy.ParallelError, no_barrier, np.ones(32), np.ones(32))
    assert "P543" in text and "an element of shared memory" in text and "cuda.syncthreads()" in text
    assert "y[t] = s[31 - t]" in text and "s[t] = x[t]" in text
    text = found(parpy.ParallelError, one_cell, np.zeros(4), grid=4, block=1)
    assert "an element of an array" in text and "blocks run in any order" in text
    counter, lock = np.zeros(1, np.int32), np.zeros(1, np.int32)
    found(parpy.ParallelError, lock_without_fence, counter, lock, grid=20, block=1)
    assert "x[0] = 0" in found(parpy.ParallelError, reset_by_one, np.zeros(1, np.int32))
    text = found(parpy.ParallelError, read_before, np.zeros(1, np.int32), np.zeros(32))
    assert "cuda.atomic.add(x, 0, 1)" in text and "if cuda.threadIdx.x == 0 else 0" in text
    found(parpy.ParallelError, read_after, np.zeros(1, np.float16), np.zeros(32))
    text = found(parpy.ParallelError, in_a_function, np.ones(32), np.ones(32))
    assert "return s[31 - t]" in text and "(s[t] = 0)" in text


def behind_a_shuffle(x, y):
    s = cuda.shared.array(32, np.float64)
    t = cuda.threadIdx.x
    s[t] = x[t]
    y[t] = cuda.shfl_sync(0xFFFFFFFF, x[t], 0) + s[31 - t]


def behind_a_vote(x, y):
    t = cuda.threadIdx.x
    y[t] = x[t]
    if cuda.any_sync(0xFFFFFFFF, x[t] > 0):
        x[t] = y[31 - t]


def behind_a_match(x, y):
    t = cuda.threadIdx.x
    y[t] = x[t]
    if cuda.match_any_sync(0xFFFFFFFF, t) != 0:
        x[t] = y[31 - t]


@pytest.mark.parametrize("kernel", [behind_a_shuffle, behind_a_vote, behind_a_match])
@pytest.mark.parametrize("seed", [0, 1])
def test_exchanges_order_no_memory(kernel, seed):
    cuda.sim.seed = seed
    text = found(parpy.ParallelError, kernel, np.ones(32), np.ones(32))
    assert "31 - t]" in text and "cuda.syncwarp()" in text and "shuffles and votes order no memory" in text


# ---------------------------------------------------------------- memory without a value


def unset_shared(x):
    s = cuda.shared.array(32, np.float64)
    t = cuda.threadIdx.x
    if t > 3:
        s[t] = x[t]
    cuda.syncthreads()
    x[t] = s[t]


def unset_local(x):
    own = cuda.local.array(4, np.float64)
    t = cuda.threadIdx.x
    for i in range(t % 4):
        own[i] = x[t]
    x[t] = own[t % 4]


def test_reads_of_what_nobody_wrote():
    text = found(UnboundLocalError, unset_shared, np.ones(32))
    assert "P544" in text and "x[t] = s[t]" in text
    assert "thread (0, 0, 0) of block (0, 0, 0) reads an element of shared memory" in text
    text = found(UnboundLocalError, unset_local, np.ones(32))
    assert "a local array" in text and "x[t] = own[t % 4]" in text


# ---------------------------------------------------------------- correct programs


def grid_barrier(x):
    i = cuda.grid(1)
    n = cuda.gridsize(1)
    x[i] = i
    cg.this_grid().sync()
    v = x[n - 1 - i]
    cg.this_grid().sync()
    x[i] = v


def warp_barrier(x, out):
    s = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    w = t - cuda.laneid
    s[t] = x[t]
    cuda.syncwarp()
    out[t] = s[w + 31 - cuda.laneid] + cuda.shfl_down_sync(0xFFFFFFFF, x[t], 1)


def last_block(x, partial, ticket, out):
    done = cuda.shared.array(1, np.int32)
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        partial[b] = x[b]
        cuda.threadfence()
        done[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    if done[0] == cuda.gridDim.x - 1 and cuda.threadIdx.x == 0:
        for i in range(cuda.gridDim.x):
            out[0] += partial[i]
        ticket[0] = 0


def half_adds(out):
    cuda.atomic.add(out, cuda.grid(1) % 4, np.float16(1))


def last_half(out):
    cuda.atomic.add(out, 6, np.float16(1))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_is_in_order(seed):
    cuda.sim.seed = seed
    x = np.zeros(32)
    cuda.jit(debug=True)(grid_barrier)[4, 8](x)
    np.testing.assert_array_equal(x, np.arange(32)[::-1])
    cuda.jit(debug=True)(warp_barrier)[1, 64](np.ones(64), np.ones(64))
    x, out = np.arange(8.0), np.zeros(1)
    cuda.jit(debug=True)(last_block)[8, 32](x, np.zeros(8), np.zeros(1, np.int32), out)
    assert out[0] == 28
    sums = np.zeros(8, np.float16)
    cuda.jit(debug=True)(half_adds)[4, 32](sums)
    assert sums.tolist() == [32] * 4 + [0] * 4
    cuda.jit(debug=True)(last_half)[2, 32](sums[:7])
    assert sums[6] == 64


def calls():
    square = np.ones((32, 32))
    yield kernels.saxpy, (4, 32), (1.0, np.ones(100), np.ones(100))
    yield kernels.matmul, ((2, 2), (16, 16)), (square, square.copy(), square.copy())
    yield kernels.block_sum, (8, 128), (np.ones(1000), np.zeros(1))
    yield kernels.sorted_five, (1, 64), (np.random.default_rng(0).random((50, 5), np.float32),)
    yield kernels.functions, (1, 32), (np.ones(32), np.zeros(32, np.int32))
    yield kernels.shifted, (1, 32), (np.ones(32),)
    yield kernels.warp_sum, (2, 64), (np.ones(128), np.zeros(4))
    yield kernels.histogram, (4, 128), (np.arange(5000) % 10, np.zeros(10, np.int32))
    yield kernels.locked, (20, 1), (np.zeros(1, np.int32), np.zeros(1, np.int32))
    yield kernels.mandel, ((5, 4), (8, 8)), (np.ones(40), np.ones(30), np.zeros((30, 40), np.uint8), 50)
    yield kernels.all_atomics, (2, 32), (np.zeros(5, np.int16), np.zeros((2, 64), np.int16))


@pytest.mark.parametrize("case", list(calls()), ids=lambda case: case[0].__name__)
def test_kernels_without_faults(case):
    kernel, launch, arguments = case
    cuda.jit(debug=True)(kernel.py_func)[launch](*arguments)


# ---------------------------------------------------------------- lanes, divisors, values


def shuffle_in_branch(x, y):
    i = cuda.grid(1)
    if i < 16:
        y[i] = cuda.shfl_sync(0xFFFFFFFF, x[i], 20)


def shuffle_of_all(x, y):
    i = cuda.grid(1)
    y[i] = cuda.shfl_sync(0xFFFFFFFF, x[i], 20)


def test_a_lane_that_a_mask_names_must_take_part():
    message = found(parpy.BackendError, shuffle_in_branch, np.arange(32.0), np.zeros(32))
    assert "the value of lane 20, which the mask 0xffffffff names but which does not take part" in message
    y = np.zeros(32)
    cuda.jit(debug=True)(shuffle_of_all)[1, 32](np.arange(32.0), y)
    assert (y == 20).all()


def divide(x, k, y):
    i = cuda.grid(1)
    y[i] = x[i] // k[i]


def remainder(x, k, y):
    i = cuda.grid(1)
    y[i] = x[i] % k[i]


def true_quotient(x, k, y):
    i = cuda.grid(1)
    y[i] = x[i] / k[i]


def update(x, k, y):
    i = cuda.grid(1)
    x[i] //= k[i]


@pytest.mark.parametrize("function", [divide, remainder, true_quotient, update], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8])
def test_integers_that_are_divided_by_zero(function, dtype):
    k = np.ones(32, dtype)
    cuda.jit(debug=True)(function)[1, 32](np.ones(32, dtype), k, np.zeros(32))
    k[7] = 0
    message = found(ZeroDivisionError, function, np.ones(32, dtype), k, np.zeros(32))
    assert "an integer is divided by zero" in message
    assert "in thread (7, 0, 0) of block (0, 0, 0)" in message
    cuda.jit(function)[1, 32](np.ones(32, dtype), k, np.zeros(32))  # no error without debug=True


def test_floats_divided_by_zero_are_infinite():
    y = np.zeros(32)
    cuda.jit(debug=True)(true_quotient)[1, 32](np.ones(32), np.zeros(32), y)
    assert np.isinf(y).all()


def all_write_one_value(y):
    y[0] = 5


def all_write_their_own(y):
    y[0] = cuda.grid(1)


def read_what_all_write(y, z):
    y[0] = 5
    z[cuda.grid(1)] = y[0]


def test_threads_that_write_one_value_do_not_race():
    y = np.zeros(3)
    cuda.jit(debug=True)(all_write_one_value)[4, 64](y)
    assert y[0] == 5
    found(parpy.ParallelError, all_write_their_own, np.zeros(3))
    found(parpy.ParallelError, read_what_all_write, np.zeros(3), np.zeros(32))
