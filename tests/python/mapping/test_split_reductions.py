"""Reductions by slices and by scalars under mapped loops: with the requested blocks, in as few kernels as possible."""

from __future__ import annotations

import numpy as np
import pytest

import nvrtc
import parpy
from backends import TARGETS, options
from parpy import CompileBackend, threads

N, M = 6, 2500


@parpy.jit
def by_slices(x, y):
    parpy.label("N")
    for i in range(x.shape[0]):
        parpy.label("M")
        y[i] = parpy.reduce.sum(x[i, :])


@parpy.jit
def by_scalars(x, y):
    parpy.label("N")
    for i in range(x.shape[0]):
        s = 0.5
        parpy.label("M")
        for j in range(x.shape[1]):
            s += x[i, j] * 2
        y[i] = s / 3


@parpy.jit
def greatest(x, y):
    parpy.label("N")
    for i in range(x.shape[0]):
        parpy.label("M")
        y[i] = parpy.reduce.max(x[i, :])


@parpy.jit
def least(x, y):
    parpy.label("N")
    for i in range(x.shape[0]):
        m = x[i, 0]
        parpy.label("M")
        for j in range(x.shape[1]):
            m = min(m, x[i, j])
        if m < 0:
            m = -m
        y[i] = m


@parpy.jit
def products(x, y):
    parpy.label("N")
    for i in range(x.shape[0]):
        parpy.label("M")
        y[i] = parpy.reduce.prod(x[i, :] * 0.001 + 1)


@parpy.jit
def along_an_axis(x, y):
    parpy.label("N")
    parpy.label("M")
    y[:] = parpy.sum(x[:, :], axis=1)


@parpy.jit
def into_elements(x, y):
    parpy.label("N")
    for i in range(x.shape[0]):
        y[i] = 0
        parpy.label("M")
        for j in range(x.shape[1]):
            y[i] += x[i, j]


@parpy.jit
def several_at_once(x, y):
    parpy.label("N")
    for i in range(x.shape[0]):
        s, m, n = 0.0, x[i, 0], 0
        parpy.label("M")
        for j in range(x.shape[1]):
            s += x[i, j]
            m = max(m, x[i, j])
            n += x[i, j] > 0
        y[i] = (s + m) / n


@parpy.jit
def at_rows(x, y):
    parpy.label("N")
    for i in range(x.shape[0]):
        k = (5 * i + 1) % x.shape[0]
        parpy.label("M")
        y[k] = parpy.reduce.sum(x[k, 3:])


@parpy.jit
def softmax(x, y):
    parpy.label("N")
    for i in range(x.shape[0]):
        parpy.label("M")
        m = parpy.reduce.max(x[i, :])
        parpy.label("M")
        s = parpy.reduce.sum(parpy.math.exp(x[i, :] - m))
        parpy.label("M")
        y[i, :] = parpy.math.exp(x[i, :] - m) / s


@parpy.jit
def deviations(x, y):
    parpy.label("N")
    for i in range(x.shape[0]):
        parpy.label("M")
        mean = parpy.reduce.sum(x[i, :]) / x.shape[1]
        half = mean / 2
        parpy.label("M")
        s = parpy.reduce.sum((x[i, :] - mean) ** 2)
        y[i] = s + half


@parpy.jit
def sums_of_all(x, y):
    total = 0.0
    parpy.label("N")
    for i in range(x.shape[0]):
        parpy.label("M")
        s = parpy.reduce.sum(x[i, :])
        total += s * s
    with parpy.gpu:
        y[0] = total


@parpy.jit
def nested(x, y):
    parpy.label("N")
    for i in range(x.shape[0]):
        parpy.label("K")
        for k in range(2):
            s = 0.0
            parpy.label("M")
            for j in range(k, x.shape[1]):
                s += x[i, j]
            y[i, k] = s


ROWS = [by_slices, by_scalars, greatest, least, products, along_an_axis, into_elements, several_at_once, at_rows]
ALL = [*ROWS, softmax, deviations, sums_of_all, nested]
ASKED = {
    "one block": (threads(32), (1, 32)),
    "3 blocks": (threads(3072), (3, 1024)),
    "8 small blocks": (threads(1024).tpb(128), (8, 128)),
}


def arguments(function):
    r = np.random.default_rng(0)
    x = r.random((N, M)) - 0.3
    return x, np.zeros((N, M) if function is softmax else (N, 2) if function is nested else N)


def asked(backend, how, clusters, function=None):
    inner = {"K": 2} if function is nested else {}
    opts = options(backend, {"N": 4, **inner, "M": ASKED[how][0]})
    opts.use_cuda_thread_block_clusters = clusters
    return opts


@pytest.mark.parametrize("clusters", [False, True], ids=["memory", "clusters"])
@pytest.mark.parametrize("how", ASKED)
@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("function", ALL, ids=lambda f: f.__name__)
def test_results(function, backend, how, clusters):
    got, want = arguments(function), arguments(function)
    function(*want, seq=True)
    opts = asked(backend, how, clusters, function)
    function(*got, opts=opts)
    np.testing.assert_allclose(got[1], want[1], rtol=1e-11)
    again = arguments(function)
    function(*again, opts=opts)
    np.testing.assert_array_equal(again[1], got[1])  # independent of the block that is last


@pytest.mark.parametrize("clusters", [False, True], ids=["memory", "clusters"])
@pytest.mark.parametrize("how", ASKED)
@pytest.mark.parametrize("function", [f for f in ROWS if f is not into_elements], ids=lambda f: f.__name__)
def test_rows_are_one_kernel_of_as_many_blocks(function, how, clusters):
    found = parpy.explain(function, *arguments(function), opts=asked("sim", how, clusters))
    (kernel,) = found.facts["kernels"]
    blocks, size = ASKED[how][1]
    assert (kernel["grid"][0], kernel["grid"][1], kernel["block"][0]) == (
        (blocks, 4, size) if blocks > 1 else (4, 1, 32)
    )
    assert kernel["cluster"][0] == (blocks if clusters else 1)
    assert found.facts["notes"] == []
    assert (f"({ASKED[how][0]._threads}: {blocks} blocks of {size})" in str(found)) == (blocks > 1)


@pytest.mark.parametrize("function", ALL, ids=lambda f: f.__name__)
def test_no_parallelism_is_lost(function):
    found = parpy.explain(function, *arguments(function), opts=asked("sim", "3 blocks", False, function))
    assert not any("P313" in note for note in found.facts["notes"])
    kernels = found.facts["kernels"]
    assert any(kernel["grid"][0] == 3 for kernel in kernels)
    assert len(kernels) == {softmax: 3, deviations: 2, sums_of_all: 3, into_elements: 2}.get(function, 1)


@pytest.mark.parametrize("how", ASKED)
@pytest.mark.parametrize("function", ALL, ids=lambda f: f.__name__)
def test_text(function, how):
    for clusters in (False, True):
        nvrtc.cubin(parpy.print_compiled(function, arguments(function), asked("cuda", how, clusters, function)))


def test_sizes_that_keep_changing():
    for n, m in [(3, 2000), (4, 2100), (5, 3000), (6, 2500), (7, 2047), (2, 5), (0, 9), (9, 1)]:
        x = np.random.default_rng(n).random((n, m))
        for function in (by_slices, deviations, several_at_once):
            got, want = np.zeros(n), np.zeros(n)
            function(x, want, seq=True)
            function(x, got, opts=asked("sim", "3 blocks", False))
            np.testing.assert_allclose(got, want, rtol=1e-11)


@parpy.jit
def stores_besides(x, y, z):
    parpy.label("N")
    for i in range(x.shape[0]):
        s = 0.0
        parpy.label("M")
        for j in range(x.shape[1]):
            s += x[i, j]
            z[i, j] = 2 * x[i, j]
        y[i] = s + z[i, 7]


@pytest.mark.parametrize("backend", TARGETS)
def test_what_other_blocks_store_is_read_in_the_next_kernel(backend):
    x, _ = arguments(by_slices)
    got, want = (np.zeros(N), np.zeros((N, M))), (np.zeros(N), np.zeros((N, M)))
    stores_besides(x, *want, seq=True)
    stores_besides(x, *got, opts=asked(backend, "3 blocks", False))
    np.testing.assert_allclose(got[0], want[0], rtol=1e-11)
    np.testing.assert_array_equal(got[1], want[1])
    facts = parpy.explain(stores_besides, x, *got, opts=asked("sim", "3 blocks", False)).facts
    assert [kernel["grid"][:2] for kernel in facts["kernels"]] == [(3, 4), (1, 1)]


@parpy.jit
def published(x: parpy.types.buffer(parpy.types.F64, [10, None]), out, N):
    parpy.label("N")
    for i in range(N):
        parpy.label("M")
        out[i] = parpy.reduce.sum(x[i, :])


def test_the_grid_of_the_published_example():
    opts = parpy.par({"N": threads(10), "M": threads(32 * 1024)}, backend=CompileBackend.Cuda)
    found = parpy.explain(published, np.zeros((10, 1 << 20)), np.zeros(10), 10, opts=opts)
    (kernel,) = found.facts["kernels"]
    assert (kernel["grid"], kernel["block"]) == ((32, 10, 1), (1024, 1, 1))
    assert "threads (32768: 32 blocks of 1024)" in str(found)
