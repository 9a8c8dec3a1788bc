"""The CUDA programs of many nests and mappings give the results of the Python function, and NVRTC compiles them.

No GPU is needed: the printed text runs on the simulator, also with blocks and threads in random order.
"""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import copies, cuda_text, options
from nvrtc import cubin, ptx
from parpy import threads


@pytest.fixture(autouse=True)
def seed_of_the_simulator():
    yield
    parpy.cuda.sim.seed = 0


def check(function, arguments, mapping, tolerance=0.0):
    """Compares with the Python function itself."""
    want = copies(arguments)
    with np.errstate(all="ignore"):
        function.__wrapped__(*want)
    for seed in range(3):
        parpy.cuda.sim.seed = seed
        got = copies(arguments)
        function(*got, opts=options("sim", mapping))
        for expected, actual in zip(want, got, strict=True):
            if isinstance(expected, np.ndarray):
                np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)
    return cuda_text(function, arguments, mapping)


rng = np.random.default_rng(7)


@parpy.jit
def axpy(a, x, y, n):
    parpy.label("N")
    for i in range(n):
        y[i] = a * x[i] + y[i]


@pytest.mark.parametrize(
    ("count", "requested"),
    [
        (0, 32),
        (1, 1),
        (31, 32),
        (33, 32),
        (100, 100),
        (256, 256),
        (300, 256),
        (300, threads(2000).tpb(64)),
        (3000, threads(3000).tpb(1000)),
        (3000, threads(2000).tpb(1)),
    ],
)
def test_axpy(count, requested):
    check(axpy, (2.5, rng.random(count + 1), rng.random(count + 1), count), {"N": requested})


def test_axpy_reads_like_hand_written_code():
    ones = np.ones(1024, np.float32)
    text = cuda_text(axpy, (2.0, ones, ones.copy(), 1024), {"N": threads(1024).tpb(128)})
    assert "int i = (int)blockIdx.x * (int)blockDim.x + (int)threadIdx.x;" in text
    assert "for (" not in text.split("host code")[0]


@parpy.jit
def steps(y, begin, end, step):
    parpy.label("N")
    for i in range(begin, end, step):
        y[i] += i + 1


@pytest.mark.parametrize("bounds", [(0, 100, 3), (99, -1, -1), (98, 0, -7), (5, 5, 1), (3, 10, -2), (1, 100, 1)])
@pytest.mark.parametrize("requested", [32, threads(128).tpb(32)])
def test_steps(bounds, requested):
    check(steps, (np.zeros(100, np.int64), *bounds), {"N": requested})


@parpy.jit
def sum_rows(x, y, n, m):
    parpy.label("N")
    for i in range(n):
        parpy.label("M")
        for j in range(m):
            y[i] += x[i, j]


MAPPINGS = [
    {"N": 64},
    {"N": 5, "M": 32},
    {"N": 5, "M": 128},
    {"N": 100, "M": 100},
    {"N": 1, "M": 64},
    {"N": 5, "M": threads(256).tpb(64)},
    {"N": 40, "M": threads(96).tpb(32).reduce()},
    {"N": 1, "M": threads(128).tpb(32)},
]


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_sum_rows(mapping):
    x = rng.integers(-5, 6, (37, 70)).astype(np.float64)
    check(sum_rows, (x, np.ones(37), 37, 70), mapping)


@pytest.mark.parametrize("dtype", [np.int32, np.float16, np.float32, np.int8, np.uint64, np.complex64])
def test_sum_rows_of(dtype):
    x = rng.integers(-5, 6, (37, 70)).astype(dtype)
    check(sum_rows, (x, np.ones(37, dtype), 37, 70), {"N": 5, "M": threads(256).tpb(64)})


@pytest.mark.parametrize("requested", [2048, 2500, 4096])
def test_rows_of_one_warp_share_blocks(requested):
    x = rng.integers(-5, 6, (2500, 3))
    text = check(sum_rows, (x, np.ones(2500, np.int64), 2500, 3), {"N": requested, "M": 32})
    assert "threadIdx.y" in text


@parpy.jit
def sum_some_rows(x, row, y, n, m):
    parpy.label("N")
    for i in range(n):
        parpy.label("M")
        for j in range(m):
            if row[i] >= 0 and x[i, j] > 0:
                y[row[i]] += x[i, j]


@pytest.mark.parametrize("mapping", [{"N": 4}, {"N": 4, "M": 32}, {"N": 2, "M": threads(128).tpb(64)}])
def test_an_element_that_no_iteration_touches_need_not_exist(mapping):
    x = rng.integers(-5, 6, (4, 70)).astype(np.float64)
    arguments = (x, np.array([0, -(10**12), 3, 10**12]), np.ones(5), 3, 70)
    check(sum_some_rows, arguments, mapping)
    want, got = copies(arguments), copies(arguments)
    sum_some_rows(*want, seq=True)
    sum_some_rows(
        *got, opts=parpy.par({k: v if isinstance(v, parpy.LoopPar) else threads(v) for k, v in mapping.items()})
    )
    np.testing.assert_allclose(got[2], want[2])


@parpy.jit
def scatter_rows(x, row, y, n, m):
    parpy.label("N")
    for i in range(n):
        parpy.label("M")
        for j in range(m):
            y[row[i]] += x[i, j]


@pytest.mark.parametrize("mapping", [{"N": 4}, {"N": 4, "M": 32}, {"M": 64}, {"N": 2, "M": threads(128).tpb(64)}])
@pytest.mark.parametrize("columns", [0, 70])
def test_a_loop_without_iterations_touches_no_element(mapping, columns):
    x = rng.integers(-5, 6, (4, 70)).astype(np.float64)
    far = 10**12 if columns == 0 else 0
    check(scatter_rows, (x, np.array([0, -far, 3, far]), np.ones(5), 3, columns), mapping)


@parpy.jit
def total(x, y, n, m):
    parpy.label("N")
    for i in range(n):
        parpy.label("M")
        for j in range(m):
            y[0] += x[i, j]
            y[1] = max(y[1], x[i, j])


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_total(mapping):
    x = rng.integers(-50, 60, (37, 70)).astype(np.float64)
    check(total, (x, np.array([1.0, -1e9]), 37, 70), mapping)


@parpy.jit
def softmax(x, y, n, m):
    parpy.label("N")
    for i in range(n):
        top = x[i, 0]
        parpy.label("M")
        for j in range(m):
            if x[i, j] > top:
                top = x[i, j]
        norm = 0.0
        parpy.label("M")
        for j in range(m):
            y[i, j] = x[i, j] - top
            norm += y[i, j] * y[i, j]
        parpy.label("M2")
        for j in range(m):
            y[i, j] = y[i, j] / norm


@pytest.mark.parametrize(
    "mapping",
    [
        {"N": 10},
        {"N": 10, "M": 64, "M2": 64},
        {"N": 10, "M": 32, "M2": 128},
        {"N": 100, "M": 32, "M2": 32},
        {"N": 4, "M": threads(256).tpb(64), "M2": 32},
        {"N": 10, "M": threads(256).tpb(64), "M2": threads(256).tpb(64)},
        {},
    ],
)
def test_softmax(mapping):
    check(softmax, (rng.random((21, 50)), np.zeros((21, 50)), 21, 50), mapping, 1e-13)


@parpy.jit
def centered(x, y, n, m):
    parpy.label("N")
    for i in range(n):
        s = x[i, 0] - x[i, 0]
        parpy.label("M")
        for j in range(1, m):
            y[i, j] = x[i, j] + x[i, j - 1]
            s += y[i, j]
        parpy.label("M")
        for j in range(1, m):
            if y[i, j] > x[i, j]:
                y[i, j] -= s
        parpy.label("M")
        for j in range(1, m):
            y[i, j] = y[i, j] + x[i, j]
        parpy.label("M")
        for j in range(1, m):
            if j > 40:
                y[i, j] = x[i, j]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.uint64])
@pytest.mark.parametrize(
    ("rows", "columns", "mapping"),
    [
        (3, 129, {"N": 3, "M": 32}),
        (3, 130, {"N": 3, "M": 32}),
        (3, 400, {"N": 2, "M": 128}),
        (2049, 66, {"N": 2049, "M": 32}),
    ],
)
def test_elements_that_a_thread_keeps(dtype, rows, columns, mapping):
    x = rng.integers(-5, 6, (rows, columns)).astype(dtype)
    text = check(centered, (x, np.zeros_like(x), rows, columns), mapping)
    assert "x_kept[q] = x[" in text and "y_kept[q] = " in text


@parpy.jit
def neighbours(x, y, n, m):
    parpy.label("N")
    for i in range(n):
        parpy.label("M")
        for j in range(m):
            x[i, j] = x[i, j] + 1
        parpy.label("M")
        for j in range(m):
            y[i, j] = x[i, m - 1 - j]
        parpy.label("M")
        for j in range(m):
            x[i, j] = x[i, j] * y[i, j]


@pytest.mark.parametrize("block", [32, 64])
def test_elements_that_other_threads_read_stay_in_memory(block):
    x = rng.integers(-5, 6, (3, 150))
    text = check(neighbours, (x, np.zeros_like(x), 3, 150), {"N": 3, "M": block})
    assert "x_kept" not in text


@parpy.jit
def normalize(x, n):
    for _ in range(2):
        s = 0.0
        parpy.label("N")
        for i in range(n):
            s += x[i]
        parpy.label("N")
        for i in range(n):
            x[i] = x[i] / s + i


@pytest.mark.parametrize("requested", [64, threads(256).tpb(64)])
def test_scalars_between_kernels(requested):
    check(normalize, (rng.random(300), 300), {"N": requested}, 1e-13)


@parpy.jit
def host_and_device(x, y, n):
    s = 1.0
    for t in range(4):
        parpy.label("N")
        for i in range(n):
            s += x[i]
        parpy.label("N")
        for i in range(n):
            y[i] += s
        if t == 2:
            s = 0.25


def test_scalars_from_host_or_device():
    check(host_and_device, (rng.random(100), np.zeros(100), 100), {"N": 64}, 1e-13)


@parpy.jit
def gpu_block(x, y, n):
    with parpy.gpu:
        y[0] = 0.0
        t = y[1]
        parpy.label("N")
        for i in range(n):
            y[0] += x[i]
        y[1] = y[0] + t
        parpy.label("N")
        for i in range(n):
            x[i] = x[i] - y[1]
        for k in range(3):
            y[2] += k * x[k]


@pytest.mark.parametrize("mapping", [{}, {"N": 64}, {"N": 32}, {"N": threads(128).tpb(32)}])
def test_gpu_block(mapping):
    check(gpu_block, (rng.random(100), rng.random(3), 100), mapping, 1e-13)


@parpy.jit
def stencil(a, b, n, steps):
    with parpy.gpu:
        for _ in range(steps):
            parpy.label("N")
            for i in range(1, n - 1):
                b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0
            parpy.label("N")
            for i in range(1, n - 1):
                a[i] = b[i]


@pytest.mark.parametrize("requested", [32, 64, 128, threads(128).tpb(32)])
def test_stencil_in_one_block(requested):
    check(stencil, (rng.random(90), np.zeros(90), 90, 6), {"N": requested}, 1e-13)


@parpy.jit
def differences(x, y, begin, end, step, m):
    parpy.label("N")
    for i in range(begin, end, step):
        parpy.label("M")
        for j in range(m):
            y[i, j] += x[i + 1, j] - x[i - 1, j]


@pytest.mark.parametrize(
    ("bounds", "requested"),
    [
        ((1, 99, 1), 7),  # 98 iterations: 14 for each block
        ((1, 99, 1), 14),
        ((1, 98, 1), 16),  # 97 iterations: 7 each, the last two blocks have 6 and none
        ((1, 99, 1), 97),
        ((98, 0, -1), 10),
        ((97, 2, -3), 5),
        ((2, 97, 4), 23),
        ((1, 2, 1), 1),
    ],
)
def test_blocks_of_a_stencil_take_neighbouring_rows(bounds, requested):
    x = rng.integers(-5, 6, (100, 40)).astype(np.float64)
    text = check(differences, (x, np.zeros_like(x), *bounds, 40), {"N": requested, "M": 32})
    assert f"= {abs(requested * bounds[2])})" not in text  # the stride
    up = (x, np.zeros_like(x), np.array([99, 17, 3, 1, 99]), 40)
    check(differences_up_to, up, {"B": 5, "N": requested, "M": 32})
    down = (x, np.zeros_like(x), np.array([0, 17, 97, 98, 99]), 40)
    check(differences_down_to, down, {"B": 2, "N": requested, "M": 32})


@parpy.jit
def differences_up_to(x, y, ends, m):
    parpy.label("B")
    for b in range(5):
        parpy.label("N")
        for i in range(1, ends[b], 2):
            parpy.label("M")
            for j in range(m):
                if j % 5 == b:
                    y[i, j] += x[i + 1, j] - x[i - 1, j]


@parpy.jit
def differences_down_to(x, y, ends, m):
    parpy.label("B")
    for b in range(5):
        parpy.label("N")
        for i in range(98, ends[b], -1):
            parpy.label("M")
            for j in range(m):
                if j % 5 == b:
                    y[i, j] += x[i + 1, j] - x[i - 1, j]


@parpy.jit
def until_small(x, n):
    with parpy.gpu:
        while x[0] > 1.0:
            parpy.label("N")
            for i in range(n):
                x[i] = x[i] / 2.0
            if x[3] > 40.0:
                continue
            x[1] += 1.0


def test_while_on_the_gpu():
    x = rng.random(50) * 100
    x[0], x[3] = 90.0, 95.0
    check(until_small, (x, 50), {"N": 64})


@parpy.jit
def triangle(x, y, n):
    parpy.label("N")
    for i in range(n):
        d = x[i, i]
        y[i] = d
        parpy.label("M")
        for j in range(i, n):
            y[i] += x[i, j] * d
        parpy.label("M")
        for j in range(i + 1):
            x[i, j] = d
        y[i] += x[i, 0]


@pytest.mark.parametrize("mapping", [{"N": 8, "M": 64}, {"N": 60, "M": 32}, {"N": 8, "M": threads(128).tpb(32)}])
def test_triangle(mapping):
    check(triangle, (rng.random((40, 40)), np.zeros(40), 40), mapping, 1e-13)


@parpy.jit
def three_levels(x, y, z, n, m, k):
    parpy.label("N")
    for i in range(n):
        parpy.label("M")
        for j in range(m):
            parpy.label("K")
            for q in range(k):
                y[i, j] += x[i, j, q]
                z[i] = max(z[i], x[i, j, q])


@pytest.mark.parametrize(
    "mapping",
    [
        {"N": 4, "M": 3, "K": 32},
        {"N": 6, "M": 9, "K": threads(64).tpb(32)},
        {"N": 2, "M": 1, "K": 64},
        {"N": 1, "M": 4, "K": 64},
        {"N": 64},
        {"M": 3, "K": 32},
        {"N": 2, "K": 32},
    ],
)
def test_three_levels(mapping):
    check(three_levels, (rng.random((6, 7, 40)), np.zeros((6, 7)), np.zeros(6), 6, 7, 40), mapping, 1e-13)


@parpy.jit
def reductions(x, k, b, out, n):
    with parpy.gpu:
        lo, hi = x[0], x[0]
        s, p, d = 0.0, 1.0, 0.0
        bits, ones = 0, -1
        every, some = True, False
        parpy.label("N")
        for i in range(n):
            lo = min(lo, x[i])
            hi = x[i] if x[i] > hi else hi
            s += x[i]
            d -= x[i]
            p *= 1.0 + x[i] / 1000.0
            bits ^= k[i]
            ones &= k[i]
            every = every and b[i]
            some = some or b[i]
        out[0], out[1], out[2], out[3], out[4] = lo, hi, s, p, d
        out[5], out[6], out[7], out[8] = bits, ones, every, some


@pytest.mark.parametrize("mapping", [{"N": 32}, {"N": 96}, {"N": 256}, {}])
def test_every_reduction(mapping):
    x, k = rng.random(200) - 0.5, rng.integers(0, 1 << 20, 200)
    check(reductions, (x, k, k % 2 == 0, np.zeros(9), 200), mapping, 1e-12)


@parpy.jit
def minima(x, y, n):
    with parpy.gpu:
        lo = y[0]
        hi = y[1]
        parpy.label("N")
        for i in range(n):
            if x[i] < lo:
                lo = x[i]
            hi = max(hi, x[i])
        y[0] = lo
        y[1] = hi


@pytest.mark.parametrize("start", [0.5, np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("requested", [32, 128])
def test_nan_among_the_elements_is_skipped(start, requested):
    x = rng.random(100)
    x[[0, 7, 99]] = np.nan
    check(minima, (x, np.full(2, start), 100), {"N": requested})
    check(minima, (np.full(100, np.nan), np.full(2, start), 100), {"N": requested})


@parpy.jit
def lengths(x, y, z, n):
    parpy.label("N")
    for i in range(n):
        z[i] = np.hypot(x[i], y[i])


def test_hypot_neither_overflows_nor_vanishes():
    x = np.concatenate([rng.random(200) * 2.0 ** rng.integers(-1074, 1023, 200), [1.2e308, 5e-324, np.inf, np.nan, 0]])
    y = np.concatenate([x[:200] * 2.0 ** rng.integers(-30, 30, 200), [1.2e308, 5e-324, np.nan, 1.0, 0]])
    y = np.where(y > 1e308, 1e308, y)
    check(lengths, (x, y, np.zeros(205), 205), {"N": 32}, 2.3e-16)


@pytest.mark.parametrize(
    ("function", "arguments", "mapping"),
    [
        (lengths, (np.ones(9), np.ones(9), np.ones(9), 9), {"N": 32}),
        (differences, (np.ones((100, 40)), np.ones((100, 40)), 1, 99, 1, 40), {"N": 7, "M": 32}),
        (axpy, (2.5, np.ones(300), np.ones(300), 300), {"N": 256}),
        (sum_rows, (np.ones((37, 70), np.float32), np.ones(37, np.float32), 37, 70), {"N": 5, "M": 128}),
        (sum_rows, (np.ones((37, 70), np.float16), np.ones(37, np.float16), 37, 70), {"N": 5, "M": 2048}),
        (sum_rows, (np.ones((37, 70), np.int64), np.ones(37, np.int64), 37, 70), {"N": 5, "M": 2048}),
        (sum_rows, (np.ones((37, 70), np.complex128), np.ones(37, np.complex128), 37, 70), {"N": 5, "M": 2048}),
        (total, (np.ones((37, 70)), np.ones(2), 37, 70), {"N": 37, "M": 2048}),
        (softmax, (np.ones((21, 50)), np.ones((21, 50)), 21, 50), {"N": 10, "M": 64, "M2": 64}),
        (centered, (np.ones((3, 200), np.float16), np.ones((3, 200), np.float16), 3, 200), {"N": 3, "M": 64}),
        (normalize, (np.ones(300, np.float32), 300), {"N": 2048}),
        (gpu_block, (np.ones(100), np.ones(3), 100), {}),
        (stencil, (np.ones(90), np.ones(90), 90, 6), {"N": 64}),
        (until_small, (np.ones(50), 50), {"N": 64}),
        (reductions, (np.ones(9), np.ones(9, np.int64), np.ones(9, bool), np.ones(9), 9), {"N": 96}),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_nvrtc_takes_the_text(function, arguments, mapping):
    cubin(cuda_text(function, arguments, mapping))


@parpy.jit
def jacobi(a, b, n, steps):
    for _ in range(steps):
        parpy.label("N")
        for i in range(1, n - 1):
            parpy.label("M")
            for j in range(1, n - 1):
                b[i, j] = a[i, j - 1] + a[i, j + 1] + a[i - 1, j] + a[i + 1, j]
        parpy.label("N")
        for i in range(1, n - 1):
            parpy.label("M")
            for j in range(1, n - 1):
                a[i, j] = b[i, j - 1] + b[i, j + 1] + b[i - 1, j] + b[i + 1, j]


@pytest.mark.parametrize(
    ("function", "arguments", "mapping"),
    [
        (jacobi, (np.ones((90, 90)), np.ones((90, 90)), 90, 6), {"N": 22, "M": threads(96).tpb(32)}),
        (normalize, (np.ones(300), 300), {"N": 32}),
        (normalize, (np.ones(300), 300), {"N": 2048}),
        (host_and_device, (np.ones(100), np.ones(100), 100), {"N": 64}),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_kernels_that_start_early_touch_no_memory_before_they_wait(function, arguments, mapping):
    bodies = ptx(check(function, arguments, mapping, 1e-13)).split(".entry ")[1:]
    assert len(bodies) > 1
    for body in bodies:
        before, _ = body.split("griddepcontrol.wait;")
        assert not [op for op in ("ld.global", "st.global", "atom", "red.", "bra") if op in before]
