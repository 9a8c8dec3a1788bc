"""Mapping by hand: with any numbers of threads, the result is that of the sequential loop."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import BACKENDS, cuda_text, options, run
from parpy import threads

pytestmark = pytest.mark.parametrize("backend", BACKENDS)


@parpy.jit
def scale(x, y, n):
    parpy.label("n")
    for i in range(n):
        y[i] = 2 * x[i] + i


@pytest.mark.parametrize("count", [1, 2, 31, 32, 33, 1000, 1024, 1025, 5000])
@pytest.mark.parametrize("requested", [1, 32, 100, 1024, 1500, 100_000])
def test_trip_counts_need_not_equal_thread_counts(backend, count, requested):
    x = np.arange(count, dtype=np.int64)
    y = np.full(count, -1, np.int64)
    run(backend, scale, (x, y, count), {"n": requested})
    np.testing.assert_array_equal(y, 3 * x)


@pytest.mark.parametrize("tpb", [32, 64, 128, 256, 1000])
def test_threads_per_block(backend, tpb):
    x = np.arange(10_000, dtype=np.int64)
    y = np.zeros_like(x)
    run(backend, scale, (x, y, x.size), {"n": threads(5000).tpb(tpb)})
    np.testing.assert_array_equal(y, 3 * x)


def test_zero_iterations(backend):
    y = np.full(4, 7, np.int64)
    run(backend, scale, (y.copy(), y, 0), {"n": 128})
    np.testing.assert_array_equal(y, 7)


@parpy.jit
def strided(y, begin, end, step):
    parpy.label("i")
    for i in range(begin, end, step):
        y[i] += i + 1


@pytest.mark.parametrize(
    "bounds", [(0, 100, 3), (99, -1, -1), (98, 0, -7), (5, 5, 1), (10, 3, 2), (3, 10, -2), (0, 100, 99)]
)
def test_steps(backend, bounds):
    y = np.zeros(100, np.int64)
    run(backend, strided, (y, *bounds), {"i": 64})
    want = np.zeros(100, np.int64)
    for i in range(*bounds):
        want[i] += i + 1
    np.testing.assert_array_equal(y, want)


@parpy.jit
def strides_at_run_time(y, bounds):
    parpy.label("i")
    for i in range(bounds[0], bounds[1], bounds[2]):
        y[i] += i + 1


@pytest.mark.parametrize("bounds", [(0, 100, 3), (99, -1, -1), (98, 0, -7), (5, 5, 1)])
def test_steps_known_at_run_time_only(backend, bounds):
    if backend == "cuda":
        pytest.skip("loop bounds read from device memory need parpy.gpu")
    y = np.zeros(100, np.int64)
    run(backend, strides_at_run_time, (y, np.array(bounds)), {"i": 64})
    want = np.zeros(100, np.int64)
    for i in range(*bounds):
        want[i] += i + 1
    np.testing.assert_array_equal(y, want)


@parpy.jit
def five_deep(y, a, b, c, d, e):
    parpy.label("a")
    for i in range(a):
        parpy.label("b")
        for j in range(b):
            parpy.label("c")
            for k in range(c):
                parpy.label("d")
                for m in range(d):
                    parpy.label("e")
                    for n in range(e):
                        y[i, j, k, m, n] = (((i * 10 + j) * 10 + k) * 10 + m) * 100 + n


@pytest.mark.parametrize("labels", ["abcde", "a", "e", "ace", "bd", "abcd"])
def test_more_than_three_parallel_loops(backend, labels):
    shape = (2, 3, 4, 5, 40)
    y = np.zeros(shape, np.int64)
    mapping = {label: shape["abcde".index(label)] for label in labels}
    run(backend, five_deep, (y, *shape), mapping)
    i, j, k, m, n = np.indices(shape)
    np.testing.assert_array_equal(y, (((i * 10 + j) * 10 + k) * 10 + m) * 100 + n)


@parpy.jit
def wide(y, n, m):
    parpy.label("n")
    for i in range(n):
        parpy.label("m")
        for j in range(m):
            y[i, j] = i - j


def test_outer_extent_above_65535(backend):
    n, m = (3000, 5) if backend == "eval" else (100_003, 5)
    y = np.zeros((n, m), np.int32)
    run(backend, wide, (y, n, m), {"n": n, "m": m})
    i, j = np.indices((n, m))
    np.testing.assert_array_equal(y, i - j)


# ------------------------------------------------------------------ reductions


@parpy.jit
def reduce_add(x, y, n, m):
    parpy.label("n")
    for i in range(n):
        parpy.label("m")
        for j in range(m):
            y[i] += x[i, j]


@parpy.jit
def reduce_mul(x, y, n, m):
    parpy.label("n")
    for i in range(n):
        parpy.label("m")
        for j in range(m):
            y[i] *= x[i, j]


@parpy.jit
def reduce_min(x, y, n, m):
    parpy.label("n")
    for i in range(n):
        parpy.label("m")
        for j in range(m):
            y[i] = min(y[i], x[i, j])


@parpy.jit
def reduce_max(x, y, n, m):
    parpy.label("n")
    for i in range(n):
        parpy.label("m")
        for j in range(m):
            if x[i, j] > y[i]:
                y[i] = x[i, j]


@parpy.jit
def reduce_and(x, y, n, m):
    parpy.label("n")
    for i in range(n):
        parpy.label("m")
        for j in range(m):
            y[i] &= x[i, j]


@parpy.jit
def reduce_or(x, y, n, m):
    parpy.label("n")
    for i in range(n):
        parpy.label("m")
        for j in range(m):
            y[i] |= x[i, j]


@parpy.jit
def reduce_xor(x, y, n, m):
    parpy.label("n")
    for i in range(n):
        parpy.label("m")
        for j in range(m):
            y[i] ^= x[i, j]


REDUCTIONS = {
    "add": (reduce_add, np.add),
    "mul": (reduce_mul, np.multiply),
    "min": (reduce_min, np.minimum),
    "max": (reduce_max, np.maximum),
    "and": (reduce_and, np.bitwise_and),
    "or": (reduce_or, np.bitwise_or),
    "xor": (reduce_xor, np.bitwise_xor),
}
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize(
    "level", [{"n": 3}, {"m": 32}, {"n": 3, "m": 32}, {"n": 3, "m": 256}, {"n": 3, "m": 4096}, {"m": 3000}]
)
@pytest.mark.parametrize("dtype", [*INTEGERS, "bool", "float16", "float32", "float64"])
@pytest.mark.parametrize("op", REDUCTIONS)
def test_reductions(backend, op, dtype, level):
    if op in ("and", "or", "xor") and dtype.startswith("float"):
        pytest.skip("bitwise operators take integers")
    if dtype == "bool" and op in ("add", "mul"):
        pytest.skip("sums of booleans are logical in NumPy and have a test of their own")
    if backend == "cuda" and "n" not in level and "m" not in level:
        pytest.skip("nothing parallel")
    kernel, ufunc = REDUCTIONS[op]
    rng = np.random.default_rng(3)
    n, m = 3, 1111
    if dtype == "bool":
        x, y = rng.random((n, m)) < 0.5, np.array([True, False, True])
    elif dtype.startswith("float"):
        low, high = (0.99, 1.01) if op == "mul" else (-4.0, 4.0)
        x = rng.uniform(low, high, (n, m)).astype(dtype)
        y = np.array([1.0, -1.0, 2.0], dtype)
    else:
        info = np.iinfo(dtype)
        x = rng.integers(info.min, info.max, (n, m), dtype=dtype, endpoint=True)
        y = rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
    want = ufunc(y, ufunc.reduce(x.astype(np.float64) if dtype == "float16" else x, axis=1))
    want = want.astype(dtype)
    mapping = {"n": threads(level["n"])} if "n" in level else {}
    if "m" in level:
        mapping["m"] = threads(level["m"]).reduce()
    run(backend, kernel, (x, y, n, m), mapping)
    if dtype.startswith("float") and op in ("add", "mul"):
        tolerance = {"float16": 3e-2, "float32": 1e-4, "float64": 1e-12}[dtype]
        np.testing.assert_allclose(y, want, rtol=tolerance, atol=tolerance * 8)
    else:
        np.testing.assert_array_equal(y, want)


@parpy.jit
def total(x, out, n, m):
    parpy.label("n")
    for i in range(n):
        parpy.label("m")
        for j in range(m):
            out[0] += x[i, j]


@pytest.mark.parametrize("sizes", [(1, 32), (7, 32), (64, 128), (300, 2048), (2000, 1)])
def test_reduction_over_two_parallel_loops(backend, sizes):
    x = np.random.default_rng(0).integers(-1000, 1000, (257, 129))
    out = np.array([5], np.int64)
    run(backend, total, (x, out, *x.shape), {"n": threads(sizes[0]).reduce(), "m": threads(sizes[1]).reduce()})
    assert out[0] == 5 + x.sum()


@parpy.jit
def returned_total(x):
    s = 0
    parpy.label("n")
    for i in range(x.shape[0]):
        parpy.label("m")
        for j in range(x.shape[1]):
            s += x[i, j]
    return s


@parpy.jit
def row_totals_and_copy(x, out, copy):
    parpy.label("n")
    for i in range(x.shape[0]):
        copy[i] = i
        if x.shape[1] > 2:
            out[0] += x[i, 0]
        for j in range(x.shape[1]):
            out[0] += x[i, j]


@pytest.mark.parametrize("shape", [(3, 0), (0, 5), (0, 0), (3, 4)], ids=str)
def test_reduce_is_accepted_whatever_the_extents(backend, shape):
    x, out, copy = np.ones(shape, np.int64), np.array([5], np.int64), np.zeros(3, np.int64)
    mapping = {"n": threads(32).reduce(), "m": threads(64).reduce()}
    run(backend, total, (x, out, *shape), mapping)
    assert out[0] == 5 + x.size
    run(backend, row_totals_and_copy, (x, out, copy), {"n": threads(32).reduce()})
    assert out[0] == 5 + 2 * x.size + (shape[0] if shape[1] > 2 else 0)
    np.testing.assert_array_equal(copy[: shape[0]], np.arange(shape[0]))
    cuda_text(total, (x, out, *shape), mapping)
    if backend != "eval":
        assert returned_total(x, opts=options(backend, mapping)) == x.size


@parpy.jit
def total_one(x, out, n):
    with parpy.gpu:
        out[0] = 0
        parpy.label("n")
        for i in range(n):
            out[0] += x[i]
        out[1] = 2 * out[0]


@pytest.mark.parametrize("requested", [32, 512, 1024, 5000, 200_000])
def test_grid_reduction_inside_gpu_block(backend, requested):
    x = np.random.default_rng(0).integers(-1000, 1000, 20_011)
    out = np.array([99, 98], np.int64)
    run(backend, total_one, (x, out, x.size), {"n": threads(requested).reduce()})
    assert out.tolist() == [x.sum(), 2 * x.sum()]


@parpy.jit
def statistics(x, mean, spread, top, n, m):
    parpy.label("n")
    for i in range(n):
        s = 0.0
        q = 0.0
        t = x[i, 0]
        parpy.label("m")
        for j in range(m):
            s += x[i, j]
            q += x[i, j] * x[i, j]
            t = max(t, x[i, j])
        mean[i] = s / m
        spread[i] = np.sqrt(q / m - (s / m) ** 2)
        top[i] = t


@pytest.mark.parametrize("m_threads", [32, 64, 256, 1024, 3000])
def test_several_scalar_reductions_used_afterwards(backend, m_threads):
    x = np.random.default_rng(0).standard_normal((37, 700))
    mean, spread, top = np.zeros(37), np.zeros(37), np.zeros(37)
    run(backend, statistics, (x, mean, spread, top, 37, 700), {"n": 37, "m": threads(m_threads).reduce()})
    np.testing.assert_allclose(mean, x.mean(axis=1), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(spread, x.std(axis=1), rtol=1e-10)
    np.testing.assert_array_equal(top, x.max(axis=1))


@parpy.jit
def softmax(x, out, n, m):
    parpy.label("n")
    for i in range(n):
        top = x[i, 0]
        parpy.label("m")
        for j in range(m):
            top = max(top, x[i, j])
        s = 0.0
        parpy.label("m")
        for j in range(m):
            out[i, j] = np.exp(x[i, j] - top)
            s += out[i, j]
        parpy.label("k")
        for j in range(m):
            out[i, j] = out[i, m - 1 - j] / s if j < 0 else out[i, j] / s


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sizes", [(32, 32), (128, 128), (256, 64), (2048, 2048), (64, 4096)])
def test_softmax(backend, dtype, sizes):
    x = np.random.default_rng(0).standard_normal((21, 515)).astype(dtype)
    out = np.full_like(x, np.nan)
    run(backend, softmax, (x, out, *x.shape), {"n": 21, "m": threads(sizes[0]).reduce(), "k": sizes[1]})
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(axis=1, keepdims=True), rtol=1e-5 if dtype == "float32" else 1e-12)


@parpy.jit
def ping_pong(A, B, steps, n):
    for t in range(steps):
        parpy.label("n")
        for i in range(1, n - 1):
            B[i] = (A[i - 1] + A[i] + A[i + 1]) / 3
        parpy.label("n")
        for i in range(1, n - 1):
            A[i] = (B[i - 1] + B[i] + B[i + 1]) / 3


@pytest.mark.parametrize("requested", [32, 1000, 4000])
def test_sequential_host_loop_around_kernels(backend, requested):
    rng = np.random.default_rng(0)
    A, B = rng.random(3001), rng.random(3001)
    P, Q = A.copy(), B.copy()
    run(backend, ping_pong, (A, B, 9, A.size), {"n": requested})
    for _ in range(9):
        Q[1:-1] = (P[:-2] + P[1:-1] + P[2:]) / 3
        P[1:-1] = (Q[:-2] + Q[1:-1] + Q[2:]) / 3
    np.testing.assert_allclose(A, P, rtol=1e-13)
    np.testing.assert_allclose(B, Q, rtol=1e-13)


@parpy.jit
def block_ping_pong(A, B, rows, steps, n):
    parpy.label("rows")
    for r in range(rows):
        for t in range(steps):
            parpy.label("n")
            for i in range(1, n - 1):
                B[r, i] = (A[r, i - 1] + A[r, i] + A[r, i + 1]) / 3
            parpy.label("n")
            for i in range(1, n - 1):
                A[r, i] = (B[r, i - 1] + B[r, i] + B[r, i + 1]) / 3


@pytest.mark.parametrize("requested", [32, 256, 1024])
def test_sequential_loop_between_parallel_loops(backend, requested):
    """Threads of a block exchange neighbouring elements: a missing barrier shows here."""
    rng = np.random.default_rng(0)
    A, B = rng.random((5, 701)), rng.random((5, 701))
    P, Q = A.copy(), B.copy()
    run(backend, block_ping_pong, (A, B, 5, 20, 701), {"rows": 5, "n": requested})
    for _ in range(20):
        Q[:, 1:-1] = (P[:, :-2] + P[:, 1:-1] + P[:, 2:]) / 3
        P[:, 1:-1] = (Q[:, :-2] + Q[:, 1:-1] + Q[:, 2:]) / 3
    np.testing.assert_allclose(A, P, rtol=1e-12)


@parpy.jit
def block_level_code(x, y, z, n, m):
    parpy.label("n")
    for i in range(n):
        z[i] = z[i] + 1
        factor = z[i] * 2
        if factor > 4:
            parpy.label("m")
            for j in range(m):
                y[i, j] = x[i, j] * factor
            z[i] = -z[i]
        else:
            parpy.label("m")
            for j in range(m):
                y[i, j] = x[i, (j + 1) % m]
        k = 0
        while k < 3:
            parpy.label("m")
            for j in range(m):
                y[i, j] += k + z[i]
            k += 1
        z[i] = y[i, 0] + y[i, m - 1]


@pytest.mark.parametrize("m_threads", [32, 128, 1024])
def test_code_between_parallel_loops_runs_once(backend, m_threads):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 100, (11, 300))
    y, z = np.zeros_like(x), np.arange(11)
    y_want, z_want = y.copy(), z.copy()
    block_level_code(x, y_want, z_want, 11, 300, seq=True)
    run(backend, block_level_code, (x, y, z, 11, 300), {"n": 11, "m": m_threads})
    np.testing.assert_array_equal(y, y_want)
    np.testing.assert_array_equal(z, z_want)


@parpy.jit
def siblings(x, y, z, n, m, k):
    parpy.label("n")
    for i in range(n):
        parpy.label("m")
        for j in range(m):
            y[i, j] = x[i, j] * 2
        parpy.label("k")
        for j in range(k):
            z[i, j] = y[i, m - 1 - j] + 1


@pytest.mark.parametrize("sizes", [(64, 64), (64, 256), (256, 64), (64, 2048), (2048, 64), (4096, 2048)])
def test_siblings_of_different_size(backend, sizes):
    x = np.random.default_rng(0).integers(0, 100, (6, 400))
    y, z = np.zeros_like(x), np.zeros((6, 170), x.dtype)
    run(backend, siblings, (x, y, z, 6, 400, 170), {"n": 6, "m": sizes[0], "k": sizes[1]})
    np.testing.assert_array_equal(y, 2 * x)
    np.testing.assert_array_equal(z, y[:, ::-1][:, :170] + 1)


@parpy.jit
def triangular(y, n):
    parpy.label("n")
    for i in range(n):
        parpy.label("m")
        for j in range(i, n):
            y[i, j] = i * 1000 + j


def test_bounds_that_depend_on_the_outer_loop(backend):
    y = np.zeros((70, 70), np.int64)
    run(backend, triangular, (y, 70), {"n": 70, "m": 64})
    i, j = np.indices(y.shape)
    np.testing.assert_array_equal(y, np.where(j >= i, i * 1000 + j, 0))


@parpy.jit
def outer_product(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        parpy.label("j")
        for j in range(x.shape[0]):
            y[i, j] = x[i] * x[j]


def test_threads_per_block_that_differ_in_one_nest(backend):
    if backend == "eval":
        pytest.skip("the interpreter has no mapping")
    x, y = np.arange(40.0), np.zeros((40, 40))
    differ = {"i": threads(40).tpb(64), "j": threads(40).tpb(32)}
    with pytest.raises(parpy.CompileError, match=r"loop 'j' asks for 32 threads per block and loop 'i' .* for 64"):
        run(backend, outer_product, (x, y), differ)
    run(backend, outer_product, (x, y), {"i": threads(40), "j": threads(40).tpb(32)})
    assert np.array_equal(y, np.outer(x, x))
