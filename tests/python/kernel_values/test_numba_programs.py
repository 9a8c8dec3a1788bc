"""Programs in the style of numba.cuda's users: the only change is `import parpy.cuda as cuda` instead of numba's."""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np
import pytest

import kernel_places
import parpy.cuda as cuda
from nvrtc import cubin
from parpy.cuda import _compiling, types
from parpy.cuda._kernel import Kernel
from parpy.cuda.random import create_xoroshiro128p_states, xoroshiro128p_normal_float64, xoroshiro128p_uniform_float32

backend = kernel_places.backend
float32, float64, int32 = types.float32, types.float64, types.int32
TPB = 16


@pytest.fixture(autouse=True)
def compiled_for_a_gpu(backend):
    """NVRTC also compiles the kernels that a test launches on the simulator."""
    before = {(kernel, types) for kernel in kernels() for types in kernel.overloads}
    yield
    for kernel in kernels() if cuda.sim.enabled else ():
        for signature in kernel.overloads:
            if (kernel, signature) not in before:
                cubin(_compiling.device_text(kernel, types.void(*signature)))


def kernels():
    return [each for each in globals().values() if isinstance(each, Kernel)]


@pytest.fixture
def rng():
    return np.random.default_rng(11)


# ---------------------------------------------------------------- one thread for each element


@cuda.jit
def vector_add(a, b, c):
    tid = cuda.grid(1)
    size = len(c)
    if tid < size:
        c[tid] = a[tid] + b[tid]


def test_vector_addition(rng):
    n = 10_000
    a, b = cuda.to_device(rng.random(n)), cuda.to_device(rng.random(n))
    c = cuda.device_array_like(a)
    vector_add.forall(len(a))(a, b, c)
    np.testing.assert_array_equal(c.copy_to_host(), np.asarray(a) + np.asarray(b))
    threads = 256
    c[:] = 0
    vector_add[(len(a) // threads) + 1, threads](a, b, c)
    np.testing.assert_array_equal(np.asarray(c), np.asarray(a) + np.asarray(b))


@cuda.jit("void(float32[:,:], float32, float32)")
def increment_2d(image, step, most):
    x, y = cuda.grid(2)
    if x < image.shape[0] and y < image.shape[1]:
        image[x, y] = min(image[x, y] + step, most)


def test_signature_in_a_text():
    image = np.zeros((50, 30), np.float32)
    blocks = (math.ceil(image.shape[0] / TPB), math.ceil(image.shape[1] / TPB))
    increment_2d[blocks, (TPB, TPB)](image, 1.5, 1.25)
    assert (image == 1.25).all()


@cuda.jit(device=True)
def polar_to_cartesian(rho, theta):
    return rho * math.cos(theta), rho * math.sin(theta)


@cuda.jit(device=True, inline=True)
def polar_distance(rho1, theta1, rho2, theta2):
    x1, y1 = polar_to_cartesian(rho1, theta1)
    x2, y2 = polar_to_cartesian(rho2, theta2)
    return ((x1 - x2) ** 2 + (y1 - y2) ** 2) ** 0.5


@cuda.jit
def polar_distances(rho1, theta1, rho2, theta2, out):
    for i in range(cuda.grid(1), out.shape[0], cuda.gridsize(1)):
        out[i] = polar_distance(rho1[i], theta1[i], rho2[i], theta2[i])


def test_device_functions_that_return_tuples(rng):
    rho1, theta1, rho2, theta2 = rng.random((4, 1000))
    out = np.zeros(1000)
    polar_distances[4, 64](rho1, theta1, rho2, theta2, out)
    wanted = np.abs(rho1 * np.exp(1j * theta1) - rho2 * np.exp(1j * theta2))
    np.testing.assert_allclose(out, wanted, rtol=1e-9)


def test_ternary_and_default_arguments():
    @cuda.jit
    def clamp(x, low=0.0, high=1.0):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = low if x[i] < low else high if x[i] > high else x[i]

    x = np.linspace(-1, 2, 20)
    wanted = np.clip(x, 0, 1)
    clamp.forall(20)(x)
    np.testing.assert_array_equal(x, wanted)


# ---------------------------------------------------------------- shared memory


@cuda.jit
def fast_matmul(A, B, C):
    sA = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    sB = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    x, y = cuda.grid(2)
    tx, ty, bpg = cuda.threadIdx.x, cuda.threadIdx.y, cuda.gridDim.x
    tmp = float32(0.0)
    for i in range(bpg):
        sA[ty, tx] = 0
        sB[ty, tx] = 0
        if y < A.shape[0] and (tx + i * TPB) < A.shape[1]:
            sA[ty, tx] = A[y, tx + i * TPB]
        if x < B.shape[1] and (ty + i * TPB) < B.shape[0]:
            sB[ty, tx] = B[ty + i * TPB, x]
        cuda.syncthreads()
        for j in range(TPB):
            tmp += sA[ty, j] * sB[j, tx]
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = tmp


def test_matrix_product(rng):
    A, B = rng.random((23, 40)).astype(np.float32), rng.random((40, 31)).astype(np.float32)
    C = np.zeros((23, 31), np.float32)
    blocks = math.ceil(max(A.shape + B.shape) / TPB)
    fast_matmul[(blocks, blocks), (TPB, TPB)](A, B, C)
    np.testing.assert_allclose(C, A @ B, rtol=1e-5)


@cuda.jit
def block_sums(x, out):
    shr = cuda.shared.array(64, x.dtype)
    tid, i = cuda.threadIdx.x, cuda.grid(1)
    shr[tid] = x[i] if i < x.size else 0
    s = cuda.blockDim.x // 2
    cuda.syncthreads()
    while s > 0:
        if tid < s:
            shr[tid] += shr[tid + s]
        cuda.syncthreads()
        s >>= 1
    if tid == 0:
        cuda.atomic.add(out, 0, shr[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_sums_of_blocks(dtype):
    x, out = np.arange(1000).astype(dtype), np.zeros(1, dtype)
    block_sums[16, 64](x, out)
    assert out[0] == 499500


@cuda.jit(device=True)
def warp_sum(value):
    offset = 16
    while offset > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
        offset //= 2
    return value


@cuda.jit
def warp_sums(x, out):
    i = cuda.grid(1)
    total = warp_sum(x[i])
    if cuda.laneid == 0:
        out[i // cuda.warpsize] = total


def test_sums_of_warps():
    x, out = np.arange(128.0), np.zeros(4)
    warp_sums[2, 64](x, out)
    np.testing.assert_array_equal(out, x.reshape(4, 32).sum(1))


@cuda.jit
def inclusive_scan(x, out):
    temp = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    temp[t] = x[t]
    cuda.syncthreads()
    d = 1
    while d < cuda.blockDim.x:
        value = temp[t]
        if t >= d:
            value += temp[t - d]
        cuda.syncthreads()
        temp[t] = value
        cuda.syncthreads()
        d <<= 1
    out[t] = temp[t]


def test_scan(rng):
    x, out = rng.integers(0, 9, 128).astype(np.int32), np.zeros(128, np.int32)
    inclusive_scan[1, 128](x, out)
    np.testing.assert_array_equal(out, np.cumsum(x))


@cuda.jit
def bitonic_sort(x):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    k = 2
    while k <= 64:
        j = k // 2
        while j > 0:
            other = t ^ j
            if other > t and ((t & k == 0 and s[t] > s[other]) or (t & k != 0 and s[t] < s[other])):
                s[t], s[other] = s[other], s[t]
            cuda.syncthreads()
            j //= 2
        k *= 2
    x[t] = s[t]


def test_sorting_in_a_block(rng):
    x = rng.permutation(64).astype(np.int32)
    bitonic_sort[1, 64](x)
    np.testing.assert_array_equal(x, np.arange(64))


@cuda.jit
def dynamic(out):
    f = cuda.shared.array(shape=0, dtype=np.float32)
    i = cuda.shared.array(shape=0, dtype=np.int32)[1:]
    f[0] = 3.5
    i[0] = 7
    out[0], out[1] = f[0], i[0]


def test_dynamic_shared_memory():
    out = np.zeros(2)
    dynamic[1, 1, 0, 8](out)
    assert out.tolist() == [3.5, 7]


# ---------------------------------------------------------------- atomics


@cuda.jit
def histogram(x, xmin, xmax, counts):
    nbins = counts.shape[0]
    width = (xmax - xmin) / nbins
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        b = math.floor((x[i] - xmin) / width)
        if 0 <= b < nbins:
            cuda.atomic.add(counts, b, 1)


@cuda.jit
def min_max(x, found):
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        cuda.atomic.min(found, 0, x[i])
        cuda.atomic.max(found, 1, x[i])


def test_histogram(rng):
    x = rng.normal(size=5000).astype(np.float32)
    found = cuda.to_device(np.array([np.inf, -np.inf], np.float32))
    min_max[8, 64](x, found)
    low, high = found.copy_to_host()
    assert (low, high) == (x.min(), x.max())
    counts = np.zeros(16, np.int32)
    histogram[8, 64](x, np.float32(-3), np.float32(3), counts)
    wanted, _ = np.histogram(x, 16, (-3, 3))
    assert np.abs(counts - wanted).sum() <= 2


@cuda.jit
def guarded(mutex, out):
    while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
        pass
    cuda.threadfence()
    out[0] += cuda.blockIdx.x
    cuda.threadfence()
    cuda.atomic.exch(mutex, 0, 0)


def test_locks():
    out = np.zeros(1)
    guarded[10, 1](np.zeros(1, np.int32), out)
    assert out[0] == 45


# ---------------------------------------------------------------- stencils, many bodies, random numbers


@cuda.jit
def jacobi(u, v):
    i, j = cuda.grid(2)
    n, m = u.shape
    if 1 <= i < n - 1 and 1 <= j < m - 1:
        v[i, j] = 0.25 * (u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1])


def test_stencil(rng):
    host = rng.random((20, 33))
    u, v = cuda.to_device(host), cuda.to_device(host)
    for _ in range(5):
        jacobi[(2, 3), (16, 16)](u, v)
        u, v = v, u
        new = host.copy()
        new[1:-1, 1:-1] = 0.25 * (host[2:, 1:-1] + host[:-2, 1:-1] + host[1:-1, 2:] + host[1:-1, :-2])
        host = new
    np.testing.assert_allclose(u.copy_to_host(), host, rtol=1e-12)


@cuda.jit
def n_body(position, acceleration, eps):
    tile = cuda.shared.array((32, 4), float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    ax = ay = az = 0.0
    for block in range(cuda.gridDim.x):
        tile[t] = position[block * cuda.blockDim.x + t]
        cuda.syncthreads()
        for j in range(cuda.blockDim.x):
            dx, dy, dz = tile[j, 0] - position[i, 0], tile[j, 1] - position[i, 1], tile[j, 2] - position[i, 2]
            r = dx**2 + dy**2 + dz**2 + eps
            scale = tile[j, 3] / math.sqrt(r * r * r)
            ax += dx * scale
            ay += dy * scale
            az += dz * scale
        cuda.syncthreads()
    acceleration[i, 0], acceleration[i, 1], acceleration[i, 2] = ax, ay, az


def test_many_bodies(rng):
    position, acceleration = rng.random((64, 4)), np.zeros((64, 3))
    n_body[2, 32](position, acceleration, 1e-3)
    d = position[None, :, :3] - position[:, None, :3]
    scale = position[:, 3] / ((d**2).sum(2) + 1e-3) ** 1.5
    np.testing.assert_allclose(acceleration, (d * scale[:, :, None]).sum(1), rtol=1e-10)


@cuda.jit
def compute_pi(states, iterations, out):
    thread = cuda.grid(1)
    inside = 0
    for _ in range(iterations):
        x = xoroshiro128p_uniform_float32(states, thread)
        y = xoroshiro128p_uniform_float32(states, thread)
        if x**2 + y**2 <= 1.0:
            inside += 1
    out[thread] = 4.0 * inside / iterations


@cuda.jit
def price(states, start, drift, volatility, out):
    i = cuda.grid(1)
    out[i] = start * math.exp(drift + volatility * xoroshiro128p_normal_float64(states, i))


def test_monte_carlo():
    states = create_xoroshiro128p_states(24 * 64, seed=1)
    out = np.zeros(24 * 64, np.float32)
    compute_pi[24, 64](states, 200, out)
    assert abs(out.mean() - np.pi) < 0.01
    prices = np.zeros(24 * 64)
    price[24, 64](states, 20.0, 0.05 - 0.02, 0.2, prices)
    error = prices.std() / math.sqrt(prices.size)
    assert abs(prices.mean() - 20 * math.exp(0.05)) < 5 * error


# ---------------------------------------------------------------- cooperative groups, streams, records


@cuda.jit(types.void(types.int32[:, ::1]))
def sequential_rows(M):
    col = cuda.grid(1)
    g = cuda.cg.this_grid()
    rows, cols = M.shape
    for row in range(1, rows):
        M[row, col] = M[row - 1, cols - col - 1] + 1
        g.sync()


def test_grids_that_wait():
    A = np.full((64, 64), 0, np.int32)
    blockdim = 32
    overload = sequential_rows.overloads[(types.int32[:, ::1],)]
    assert overload.max_cooperative_grid_blocks(blockdim) >= 2
    sequential_rows[2, blockdim](A)
    np.testing.assert_array_equal(A, np.tile(np.arange(64, dtype=np.int32)[:, None], (1, 64)))


def test_streams_and_events(rng):
    x = rng.random(1000)
    streams, parts = [cuda.stream() for _ in range(3)], np.array_split(x, 3)
    begin, end = cuda.event(), cuda.event()
    begin.record()
    results = []
    for stream, part in zip(streams, parts, strict=True):
        with stream.auto_synchronize():
            a = cuda.to_device(part, stream=stream)
            c = cuda.device_array_like(a, stream=stream)
            vector_add.forall(len(part), stream=stream)(a, a, c)
            results.append(c.copy_to_host(stream=stream))
    end.record()
    end.synchronize()
    assert cuda.event_elapsed_time(begin, end) >= 0
    np.testing.assert_array_equal(np.concatenate(results), 2 * x)


PARTICLE = np.dtype([("position", np.float64, (3,)), ("mass", np.float32), ("kind", np.int32)], align=True)


@cuda.jit
def moves(particles, velocity, dt):
    i = cuda.grid(1)
    if i < particles.size:
        for axis in range(3):
            particles[i].position[axis] += velocity[i, axis] * dt
        if particles[i].kind == 1:
            particles[i]["mass"] *= 2


def test_structured_arrays(rng):
    particles = np.zeros(50, PARTICLE)
    particles["mass"], particles["kind"] = 1, np.arange(50) % 2
    velocity = rng.random((50, 3))
    moves.forall(50)(particles, velocity, 0.5)
    np.testing.assert_allclose(particles["position"], velocity * 0.5)
    np.testing.assert_array_equal(particles["mass"], 1 + np.arange(50) % 2)


Point = namedtuple("Point", "x y")


@cuda.jit
def with_tuples(p, arrays, t, out):
    i = cuda.grid(1)
    out[i] = p.x * arrays[0][i] + p.y * arrays[1][i] + t[0] + len(t)


def test_tuples_as_arguments(rng):
    a, b, out = rng.random(8), rng.random(8), np.zeros(8)
    with_tuples[1, 8](Point(2, 3), (a, b), (1, 2.5), out)
    np.testing.assert_allclose(out, 2 * a + 3 * b + 3)


TABLE = np.array([1.0, -2.0, 0.5])


@cuda.jit
def polynomial(x, out):
    c = cuda.const.array_like(TABLE)
    i = cuda.grid(1)
    value = 0.0
    for j in range(c.shape[0]):
        value = value * x[i] + c[j]
    out[i] = value


def test_constant_arrays(rng):
    x, out = rng.random(32), np.zeros(32)
    polynomial[1, 32](x, out)
    np.testing.assert_allclose(out, np.polyval(TABLE, x))


@cuda.reduce
def added(a, b):
    return a + b


def test_reductions(rng):
    x = rng.integers(0, 100, 1234)
    assert added(x) == x.sum()
    assert added(cuda.to_device(x), init=5) == x.sum() + 5
    result = cuda.device_array(1, x.dtype)
    added(cuda.to_device(x), res=result)
    assert result[0] == x.sum()
    assert cuda.Reduce(lambda a, b: max(a, b))(x) == x.max()


@cuda.jit
def mandel(image, limit):
    x, y = cuda.grid(2)
    if x < image.shape[1] and y < image.shape[0]:
        c = complex(-2 + 3 * x / image.shape[1], -1 + 2 * y / image.shape[0])
        z = 0j
        count = 0
        for _ in range(limit):
            z = z * z + c
            if z.real * z.real + z.imag * z.imag >= 4:
                break
            count += 1
        image[y, x] = count


def test_complex_numbers():
    image = np.zeros((20, 30), np.uint8)
    mandel[(2, 2), (16, 16)](image, 20)
    y, x = np.mgrid[:20, :30]
    c, z, wanted, alive = -2 + 3 * x / 30 + 1j * (-1 + 2 * y / 20), np.zeros((20, 30), complex), 0 * x, x >= 0
    for _ in range(20):
        z = np.where(alive, z * z + c, z)
        alive = alive & (abs(z) < 2)
        wanted += alive
    assert (image != wanted).sum() <= 2
