"""Kernels written by hand: the features of numba.cuda, on the simulator and, if there is one, on the GPU."""

from __future__ import annotations

import numpy as np
import pytest

import kernel_places
import parpy
from nvrtc import cubin
from parpy import cuda
from test_kernel_exchanges import all_atomics, bit_atomics, counts, exchanges, histogram, locked, warp_sum
from test_kernel_numbers import floats, mandel, numbers, shout

backend = kernel_places.backend
TPB = 16
rng = np.random.default_rng(11)


# ---------------------------------------------------------------- places and launches


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = a * x[i] + y[i]


@pytest.mark.parametrize("n", [1, 31, 100, 1000, 5000])
def test_saxpy(n):
    x, y = rng.random(n, np.float32), rng.random(n, np.float32)
    want = np.float32(2.5) * x + y
    saxpy[-(-n // 128), 128](2.5, x, y)
    np.testing.assert_allclose(y, want, rtol=1e-6)  # a GPU rounds once


def test_device_arrays():
    x, y = rng.random(1000), rng.random(1000)
    dx, dy = cuda.to_device(x), cuda.to_device(y)
    for _ in range(3):
        saxpy[8, 128](2.0, dx, dy)
    np.testing.assert_allclose(dy.copy_to_host(), y + 6 * x)
    np.testing.assert_array_equal(dx.copy_to_host(), x)


def test_one_program_for_all_sizes():
    saxpy[1, 32](1.0, np.ones(3), np.ones(3))
    before = saxpy.native.cache_info().compilations
    for n in (1, 5, 77, 1024):
        saxpy[8, 128](float(n), np.ones(n), np.ones(n))
        saxpy.forall(n)(float(n), np.ones(n), np.ones(n))
    assert saxpy.native.cache_info().compilations == before


@cuda.jit
def places(out):
    x, y, z = cuda.grid(3)
    nx, ny, _nz = cuda.gridsize(3)
    out[z, y, x] = x + nx * (y + ny * z)


def test_three_dimensions():
    out = np.zeros((6, 8, 10), np.int64)
    places[(5, 2, 3), (2, 4, 2)](out)
    np.testing.assert_array_equal(out, np.arange(out.size).reshape(out.shape))


@cuda.jit
def registers(out):
    i = cuda.threadIdx.x + cuda.blockDim.x * (
        cuda.threadIdx.y
        + cuda.blockDim.y * (cuda.threadIdx.z + cuda.blockDim.z * (cuda.blockIdx.x + cuda.gridDim.x * cuda.blockIdx.y))
    )
    out[i, 0], out[i, 1], out[i, 2] = cuda.laneid, cuda.warpsize, cuda.gridDim.y


def test_registers():
    out = np.zeros((2 * 3 * 48, 3), np.int32)
    registers[(2, 3), (8, 3, 2)](out)
    lanes = np.tile(np.arange(48) % 32, 6)
    np.testing.assert_array_equal(out, np.stack([lanes, np.full(288, 32), np.full(288, 3)], 1))


def test_forall():
    x, y = np.ones(1000), np.zeros(1000)
    saxpy.forall(1000)(3, x, y)
    saxpy.forall(1000, tpb=64)(3, x, y)
    saxpy.forall(0)(3, x, y)
    assert (y == 6).all()


@cuda.jit
def plane(out):
    x, y = cuda.grid(2)
    if x < out.shape[1] and y < out.shape[0]:
        out[y, x] = 10 * y + x


@cuda.jit
def block_size(out):
    out[0], out[1], out[2] = cuda.blockDim.x, cuda.blockDim.y, cuda.blockDim.z


@pytest.mark.parametrize("tasks", [5, 33, 500, (5, 3), (100, 100), (1, 1, 70)])
@pytest.mark.parametrize("tpb", [1, 32, 96, 100, 128])
def test_forall_in_blocks_of_a_given_size(tasks, tpb):
    sizes = np.zeros(3, np.int32)
    block_size.forall(tasks, tpb)(sizes)
    assert np.prod(sizes) == tpb
    block_size.forall(tasks)(sizes)
    assert np.prod(sizes) % 32 == 0


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (7, 100), (100, 3)])
def test_forall_of_a_shape(shape):
    out = np.zeros(shape, np.int32)
    plane.forall(shape[::-1])(out)
    y, x = np.indices(shape)
    np.testing.assert_array_equal(out, 10 * y + x)


# ---------------------------------------------------------------- signatures


@cuda.jit("void(float32[:], float32[:], int64)")
def typed(x, y, n):
    i = cuda.grid(1)
    if i < n:
        y[i] = 2 * x[i]


def test_signature():
    x, y = rng.random(10, np.float32), np.zeros(10, np.float32)
    typed[1, 32](x, y, np.int8(10))
    np.testing.assert_array_equal(y, 2 * x)
    with pytest.raises(TypeError, match=r"'x' must be a float32\[:\], not an array of float64 with 1 dimension"):
        typed[1, 32](x.astype(np.float64), y, 10)
    with pytest.raises(TypeError, match="argument 'n' must be an int64, not float"):
        typed[1, 32](x, y, 1.5)
    with pytest.raises(TypeError, match="takes 3 arguments, not 2"):
        typed[1, 32](x, y)


@cuda.jit(["void(int32[:])", "void(float64[::1])"])
def either(x):
    x[cuda.grid(1)] = 7


def test_several_signatures():
    a, b = np.zeros(4, np.int32), np.zeros(4)
    either[1, 4](a)
    either[1, 4](b)
    assert (a == 7).all() and (b == 7).all()
    with pytest.raises(TypeError, match="no signature of 'either' takes these arguments"):
        either[1, 4](np.zeros(4, np.float32))
    with pytest.raises(TypeError, match="c-contiguous"):
        either[1, 2](b[::2])


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("types", "value"),
    [
        (("int32", "int64"), np.int64(2**40)),
        (("int32", "int64"), np.array(2**40)),
        (("int32", "int64"), 2**40),
        (("int64", "int32"), np.int32(-3)),
        (("float32", "float64"), np.float64(0.1)),
        (("float32", "float64"), 0.1),
        (("float32", "float64"), np.float32(0.1)),
        (("float32", "float64"), np.int32(2**31 - 1)),
        (("uint8", "uint64"), np.uint64(2**63)),
    ],
)
def test_the_best_signature_is_taken(types, value, turned):
    listed = [f"void(float64[:], {each})" for each in types]

    def store(x, v):
        x[0] = v

    x = np.zeros(1)
    cuda.jit(listed[::-1] if turned else listed)(store)[1, 1](x, value)
    assert x[0] == value


@pytest.mark.parametrize("value", [np.int64(2**40), np.array(2**40), 2**40, np.uint32(2**31), 2**100])
def test_integers_that_do_not_fit_a_signature(value):
    @cuda.jit("void(int64[:], int32)")
    def store(x, v):
        x[0] = v

    with pytest.raises(TypeError, match="argument 'v' must fit an int32"):
        store[1, 1](np.zeros(1, np.int64), value)


# ---------------------------------------------------------------- memory of blocks and threads


@cuda.jit
def matmul(a, b, c):
    sa = cuda.shared.array(shape=(TPB, TPB), dtype=np.float64)
    sb = cuda.shared.array((TPB, TPB), np.float64)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = 0.0
    for i in range((a.shape[1] + TPB - 1) // TPB):
        sa[ty, tx] = a[y, tx + i * TPB] if y < a.shape[0] and tx + i * TPB < a.shape[1] else 0.0
        sb[ty, tx] = b[ty + i * TPB, x] if x < b.shape[1] and ty + i * TPB < b.shape[0] else 0.0
        cuda.syncthreads()
        for k in range(TPB):
            total += sa[ty, k] * sb[k, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("shape", [(16, 16, 16), (48, 32, 64), (33, 17, 50)])
def test_tiled_matmul(shape, seed):
    cuda.sim.seed = seed
    n, k, m = shape
    a, b, c = rng.random((n, k)), rng.random((k, m)), np.zeros((n, m))
    matmul[(-(-m // TPB), -(-n // TPB)), (TPB, TPB)](a, b, c)
    np.testing.assert_allclose(c, a @ b)


@cuda.jit
def reverse(x):
    s = cuda.shared.array(0, np.int32)
    i = cuda.threadIdx.x
    s[i] = x[i]
    cuda.syncthreads()
    x[i] = s[-1 - i] + len(s)


def test_shared_memory_of_the_launch():
    x = np.arange(64, dtype=np.int32)
    reverse[1, 64, 0, 64 * 4](x)
    np.testing.assert_array_equal(x, np.arange(64)[::-1] + 64)


@cuda.jit
def block_sum(x, out):
    n = 128
    s = cuda.shared.array(n, np.float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < len(x) else 0
    cuda.syncthreads()
    step = n // 2
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, s[0])


@pytest.mark.parametrize("seed", [0, 3])
def test_tree_reduction(seed):
    cuda.sim.seed = seed
    x, out = rng.integers(-9, 9, 1000) * 1.0, np.zeros(1)
    block_sum[8, 128](x, out)
    assert out[0] == x.sum()


@cuda.jit
def sorted_five(x):
    own = cuda.local.array(5, np.float32)
    i = cuda.grid(1)
    if i >= x.shape[0]:
        return
    for j in range(5):
        own[j] = x[i, j]
    for j in range(5):
        for k in range(4 - j):
            if own[k] > own[k + 1]:
                own[k], own[k + 1] = own[k + 1], own[k]
    for j in range(5):
        x[i, j] = own[j]


def test_local_array():
    x = rng.random((50, 5), np.float32)
    want = np.sort(x, 1)
    sorted_five.forall(50)(x)
    np.testing.assert_array_equal(x, want)


WEIGHTS = np.array([1.0, 10.0, 100.0])


@cuda.jit
def weighted(x):
    w = cuda.const.array_like(WEIGHTS)
    i = cuda.grid(1)
    x[i] = w[i % 3]


def test_constant_array():
    x = np.zeros(6)
    weighted[1, 6](x)
    np.testing.assert_array_equal(x, [1, 10, 100, 1, 10, 100])
    global WEIGHTS
    before = WEIGHTS.copy()
    WEIGHTS[1] = 5  # a constant is what it was
    weighted[1, 6](x)
    np.testing.assert_array_equal(x, [1, 10, 100, 1, 10, 100])
    WEIGHTS = np.array([2, 3, 4], np.int32)
    weighted[1, 6](x)
    np.testing.assert_array_equal(x, [2, 3, 4, 2, 3, 4])
    WEIGHTS = before


@cuda.jit
def changed_constant(x):
    w = cuda.const.array_like(WEIGHTS)
    w[0] = x[0]


def test_constants_are_read_only():
    with pytest.raises(parpy.CompileError, match="read-only"):
        changed_constant[1, 1](np.zeros(1))


# ---------------------------------------------------------------- functions


@cuda.jit(device=True)
def clamp(x, low, high):
    return min(max(x, low), high)


@cuda.jit("int32(int32)", device=True, inline=True)
def is_even(n):
    if n == 0:
        return 1
    return is_odd(n - 1)


@cuda.jit(device=True)
def is_odd(n):
    if n == 0:
        return 0
    return is_even(n - 1)


@parpy.jit
def square(x):
    return x * x


@cuda.jit
def functions(x, parity):
    i = cuda.grid(1)
    x[i] = clamp(square(x[i]), 1.0, 2.0)
    parity[i] = is_even(i)


def test_device_functions_recurse():
    x, parity = np.linspace(0, 3, 32), np.zeros(32, np.int32)
    functions[1, 32](x, parity)
    np.testing.assert_allclose(x, np.clip(np.linspace(0, 3, 32) ** 2, 1, 2))
    np.testing.assert_array_equal(parity, 1 - np.arange(32) % 2)
    with pytest.raises(TypeError, match="kernels call it"):
        clamp(1, 2, 3)


@cuda.jit(device=True)
def put(s, i, v):
    s[i] = v
    cuda.syncthreads()
    return s[(i + 1) % 32]


@cuda.jit
def shifted(x):
    s = cuda.shared.array(32, np.float64)
    i = cuda.threadIdx.x
    x[i] = put(s, i, x[i])


def test_shared_arrays_are_passed_on():
    x = np.arange(32.0)
    shifted[1, 32](x)
    np.testing.assert_array_equal(x, np.roll(np.arange(32.0), -1))


# ---------------------------------------------------------------- aliases, globals, other arrays


@cuda.jit
def shift(x, y):
    i = cuda.grid(1)
    v = x[i] if i < len(x) else 0
    cuda.syncthreads()
    if i < len(y):
        y[i] = v


def test_arguments_may_overlap():
    for n in (5, 9, 30):
        x = np.arange(float(n))
        shift[1, 32](x[1:], x[:-1])
        np.testing.assert_array_equal(x, [*range(1, n), n - 1])


SCALE = 3


@cuda.jit
def scaled(x):
    x[cuda.grid(1)] *= SCALE


def test_globals_are_read_at_each_launch(monkeypatch):
    x = np.ones(4)
    scaled[1, 4](x)
    monkeypatch.setitem(globals(), "SCALE", 5)
    scaled[1, 4](x)
    assert (x == 15).all()


def test_strided_and_negative():
    x = np.zeros((6, 8))[::2, ::-2]
    plane.forall((4, 3))(x)
    y, k = np.indices((3, 4))
    np.testing.assert_array_equal(x, 10 * y + k)


# ---------------------------------------------------------------- text


def test_the_text_reads_like_hand_written_code():
    text = saxpy.inspect_source(np.float32(2), np.ones(4, np.float32), np.ones(4, np.float32))
    assert "saxpy_kernel" in text and "parpy_launch(context, 0, " in text and "__restrict__" not in text


# ---------------------------------------------------------------- foreign functions

CUDA_SOURCE = """
extern "C" __device__ int twice(int a) { return 2 * a; }
extern "C" __device__ void slide(int a, int* out) { *out = a * 2; }
extern "C" __device__ int status(int* result, int a, int b) { *result = a - b; return 0; }
extern "C" __device__ float total(const float* x, int n) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i];
    return sum;
}
"""


def test_foreign_functions(tmp_path):
    source = tmp_path / "code.cu"
    source.write_text(CUDA_SOURCE)
    twice = cuda.declare_device("twice", "int32(int32)", link=str(source))
    slide = cuda.declare_device("slide", "int32(int32)", link=source, abi="out")
    status = cuda.declare_device("status", "int32(int32, int32)", abi="numba")
    total = cuda.declare_device("total", "float32(CPointer(float32), int32)")

    @cuda.jit(link=[source])
    def calls(x, y, out):
        i = cuda.grid(1)
        out[i] = twice(x[i]) + slide(x[i]) + status(x[i], 3) + total(y, len(y))

    out = np.zeros(4, np.float32)
    calls[1, 4](np.arange(4), np.ones(5, np.float32), out)
    np.testing.assert_array_equal(out, 5 * np.arange(4) - 3 + 5)
    with pytest.raises(parpy.CompileError, match="P230"):
        calls[1, 4](np.arange(4), np.ones(5), out)
    with pytest.raises(TypeError, match="kernels call it"):
        twice(1)
    with pytest.raises(ValueError, match="'c', 'numba' or 'out'"):
        cuda.declare_device("f", "int32()", abi="d")


def texts():
    ints, wide, bits = np.zeros(64, np.int32), np.zeros(64, np.int64), np.zeros(64, np.uint32)
    single, double, square = np.zeros(64, np.float32), np.zeros(64), np.zeros((32, 32))
    yield saxpy, (1.0, single, single.copy())
    yield places, (np.zeros((2, 2, 2), np.int64),)
    yield registers, (np.zeros((4, 3), np.int32),)
    yield matmul, (square, square.copy(), square.copy())
    yield reverse, (ints,)
    yield block_sum, (double, double.copy())
    yield sorted_five, (np.zeros((5, 5), np.float32),)
    yield weighted, (double,)
    yield functions, (double, ints)
    yield shifted, (double,)
    yield counts, (wide, np.zeros((64, 3), np.int32))
    yield histogram, (wide, ints)
    yield locked, (ints, ints.copy())
    yield shout, (double,)
    yield mandel, (double, double.copy(), np.zeros((4, 4), np.uint8), 50)
    yield exchanges, (ints, np.zeros((32, 10), np.int64))
    for array in (ints, bits, wide, wide.astype(np.uint64)):
        yield bit_atomics, (array,)
    for dtype in (np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64, np.int16, np.uint8, np.float16):
        yield all_atomics, (np.zeros(5, dtype), np.zeros((2, 64), dtype))
    for dtype in (np.int32, np.int64, np.float32, np.float64, np.complex64, np.float16):
        yield warp_sum, (np.zeros(128, dtype), np.zeros(4, dtype))
    for dtype in (np.uint32, np.uint64):
        yield numbers, (np.zeros(32, dtype), np.zeros((32, 5), np.uint64))
    for array in (single, double):
        yield floats, (array, np.zeros((64, 4), array.dtype))


@pytest.mark.parametrize(("kernel", "arguments"), list(texts()), ids=lambda value: getattr(value, "__name__", ""))
def test_nvrtc_takes_the_text(kernel, arguments):
    cubin(kernel.inspect_source(*arguments))


# ---------------------------------------------------------------- arrays made in loops and branches


@cuda.jit
def made_in_a_loop(x):
    for i in range(3):
        s = cuda.shared.array(3, np.float32)
        s[i] = i + 1
    x[0] = s[2]


@cuda.jit
def made_in_a_branch(x):
    if x[0] == 0:
        s = cuda.local.array(3, np.float32)
        for i in range(3):
            s[i] = 3
    x[0] = s[1]


@cuda.jit(device=True)
def third(x):
    while x[0] < 3:
        s = cuda.local.array(1, np.float64)
        x[0] += 1
        s[0] = x[0]
    return s[0]


@cuda.jit
def made_in_a_function(x):
    x[0] = third(x)


@pytest.mark.parametrize("kernel", [made_in_a_loop, made_in_a_branch, made_in_a_function])
def test_arrays_are_used_behind_the_loop_that_makes_them(kernel):
    x = np.zeros(1)
    kernel[1, 1](x)
    assert x[0] == 3
