"""opts.use_cuda_thread_block_clusters: blocks of a reduction combine through distributed shared memory."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options
from nvrtc import cubin


@parpy.jit
def total(x, y):
    parpy.label("n")
    for i in range(x.shape[0]):
        parpy.label("m")
        for j in range(x.shape[1]):
            y[i] += x[i, j]


@parpy.jit
def largest_and_sum(x, y, z):
    parpy.label("n")
    for i in range(x.shape[0]):
        parpy.label("m")
        for j in range(x.shape[1]):
            y[i] = max(y[i], x[i, j])
            z[0] += x[i, j]


@parpy.jit
def any_and_more(x, y):
    s = False
    parpy.label("m")
    for j in range(x.shape[0]):
        s = s or x[j] > 0.5
    with parpy.gpu:
        y[0] = s
        y[1] = not s


def clustered(backend, most=8, **loops):
    opts = options(backend, loops)
    opts.use_cuda_thread_block_clusters, opts.max_thread_blocks_per_cluster = True, most
    return opts


def text(function, arguments, most=8, **loops):
    return parpy.print_compiled(function, arguments, clustered("cuda", most, **loops))


@pytest.fixture(params=[0, 1, 2])
def seed(request):
    parpy.cuda.sim.seed = request.param
    yield
    parpy.cuda.sim.seed = 0


SHAPES = [(2, {"m": 64}), (4, {"m": 4096}), (8, {"m": parpy.threads(8 * 64).tpb(64)}), (16, {"m": 9001})]


@pytest.mark.parametrize("rows", [1, 3])  # blocks of the outer loop, which has five iterations
@pytest.mark.parametrize(("most", "loops"), SHAPES)
@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int64, np.complex128])
@pytest.mark.parametrize("backend", TARGETS)
def test_sums(backend, dtype, most, loops, rows, seed):
    x = np.random.default_rng(0).integers(-3, 4, (5, 9000)).astype(dtype)
    y = np.ones(5, dtype)
    total(x, y, opts=clustered(backend, most, n=rows, **loops))
    assert (y == x.sum(1) + 1).all()


@pytest.mark.parametrize("backend", TARGETS)
def test_reductions_over_one_loop_and_over_both(backend, seed):
    """Clusters can serve only one of the two groups of blocks."""
    x = np.random.default_rng(0).random((3, 9000))
    for most in (4, 16):
        y, z = np.zeros(3), np.zeros(1)
        largest_and_sum(x, y, z, opts=clustered(backend, most, n=2, m=4096))
        assert (y == x.max(1)).all()
        np.testing.assert_allclose(z, x.sum())


@pytest.mark.parametrize("backend", TARGETS)
def test_what_follows_is_done_once(backend, seed):
    for value in (0.0, 1.0):
        x, y = np.full(5000, 0.25), np.zeros(2)
        x[4711] = value
        any_and_more(x, y, opts=clustered(backend, m=5000))
        assert y.tolist() == [value, 1 - value]


@pytest.mark.parametrize("backend", TARGETS)
def test_equal_calls_give_equal_bits(backend):
    x = np.random.default_rng(0).random((3, 9000)).astype(np.float32)
    found = [np.zeros(3, np.float32) for _ in range(3)]
    for y in found:
        total(x, y, opts=clustered(backend, n=3, m=8000))
    assert len({y.tobytes() for y in found}) == 1


def test_the_text():
    x, y = np.zeros((3, 9000)), np.zeros(3)
    made = text(total, (x, y), n=3, m=4096)
    assert "__cluster_dims__(4, 1, 1) total_n(" in made and "tickets" not in made and "parpy_scratch" not in made
    assert cubin(made).startswith(b"\x7fELF")
    # Neither more blocks than allowed nor a single block make a cluster.
    for most, threads in [(2, 4096), (8, 9000), (8, 1024)]:
        made = text(total, (x, y), most, n=3, m=threads)
        assert "cluster_" not in made and ("tickets" in made) == (threads > 1024)
    assert "__cluster_dims__(9, 1, 1)" in text(total, (x, y), 16, n=3, m=9000)
    plain = options("cuda", {"n": 3, "m": 4096})
    assert "cluster_" not in parpy.print_compiled(total, (x, y), plain)
    metal = clustered("metal", n=3, m=4096)
    assert "cluster_" not in parpy.print_compiled(total, (x.astype("f"), y.astype("f")), metal)


def test_explained():
    x, y = np.zeros((3, 9000)), np.zeros(3)
    shown = str(parpy.explain(total, x, y, opts=clustered("cuda", n=3, m=4096)))
    assert "kernel total_n: 4 × 3 blocks of 1024 threads, 4 blocks a cluster" in shown
    shown = str(parpy.explain(total, x, y, opts=options("cuda", {"n": 3, "m": 4096})))
    assert "threads\n" in shown + "\n" and "cluster" not in shown


def test_kernels_that_may_fail_have_no_clusters():
    """Other blocks cannot read the memory of a block whose threads have exited."""

    @parpy.jit
    def powers(x, k, y):
        parpy.label("m")
        for j in range(x.shape[0]):
            y[0] += x[j] ** k[j]

    x, k, y = np.arange(5000), np.ones(5000, np.int64), np.zeros(1, np.int64)
    assert "cluster_" not in text(powers, (x, k, y), m=5000)
    powers(x, k, y, opts=clustered("sim", m=5000))
    assert y[0] == x.sum()


def test_edited_text_runs():
    x, y = np.random.default_rng(0).random((3, 9000)), np.zeros(3)
    sim = clustered("sim", n=3, m=4096)
    made = parpy.print_compiled(total, (x, y), sim).replace("= y[i] + y_partial", "= y[i] - y_partial")
    parpy.compile_string("total", made, sim)(x, y)
    np.testing.assert_allclose(y, -x.sum(1))
    wrong = made.replace("__cluster_dims__(4, 1, 1)", "__cluster_dims__(3)")
    with pytest.raises(parpy.BackendError, match=r"P531.*on 4 x 3 x 1 blocks in clusters of 3 x 1 x 1"):
        parpy.compile_string("total", wrong, sim)(x, y)


@parpy.jit
def over_planes(x, y):
    parpy.label("a")
    for i in range(x.shape[0]):
        parpy.label("b")
        for j in range(x.shape[1]):
            parpy.label("c")
            for k in range(x.shape[2]):
                y[i] += x[i, j, k]


@pytest.mark.parametrize("backend", TARGETS)
def test_blocks_of_one_warp_are_a_cluster(backend):
    """Small blocks form clusters; without clusters, several warps are packed into one block."""
    x = np.random.default_rng(0).integers(-9, 9, (4096, 8, 64)).astype(np.float64)
    y = np.zeros(4096)
    loops = {"a": 4096, "b": parpy.threads(8).reduce(), "c": parpy.threads(32).reduce()}
    over_planes(x, y, opts=clustered(backend, **loops))
    np.testing.assert_array_equal(y, x.sum((1, 2)))
    made = text(over_planes, [x, y], **loops)
    assert "__cluster_dims__(8, 1, 1)" in made
    assert "__launch_bounds__(32)" in made
