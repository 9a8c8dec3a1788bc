"""`#pragma sequential for`: one worker runs the iterations in order, and its vectors are the threads of a block."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
import parpy.appy as appy
from backends import BACKENDS, TARGETS, copies

CUDA = parpy.auto(backend=parpy.CompileBackend.Cuda)


@appy.jit
def solve(L, x, b, N):
    #pragma sequential for
    for i in range(N):
        s = 0.0
        #pragma simd
        for j in range(i):
            s += L[i, j] * x[j]
        x[i] = (b[i] - s) / L[i, i]


@appy.jit
def relax(a, b, steps, M):
    #pragma sequential for
    for t in range(steps):
        #pragma simd
        for j in range(1, M - 1):
            b[j] = a[j - 1] + a[j + 1]
        #pragma simd
        for j in range(M):
            a[j] = b[j] * 0.5


@appy.jit
def factor(A, N):
    #pragma sequential for
    for i in range(N):
        for j in range(i):
            A[i, j] -= sum(A[i, :j] * A[j, :j])
            A[i, j] /= A[j, j]
        A[i, i] -= sum(A[i, :i] * A[i, :i])
        A[i, i] = np.sqrt(A[i, i])


def arguments(name, n=150):
    rng = np.random.default_rng(1)
    L = np.tril(rng.random((n, n))) + 9 * np.eye(n)
    if name == "solve":
        return solve, (L, np.zeros(n), rng.random(n), n)
    if name == "relax":
        return relax, (rng.random(700), np.zeros(700), 5, 700)
    return factor, (L @ L.T, n)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["solve", "relax", "factor"])
def test_results_are_those_of_the_loop_in_order(name, backend):
    function, given = arguments(name)
    want = copies(given)
    function(*want, seq=True)
    if backend == "eval":
        parpy.calls.jit.interpret(function, given, parpy.auto(backend=parpy.CompileBackend.Cpu))
    else:
        function(*given, opts=parpy.auto(backend=parpy.CompileBackend(backend)))
    for a, b in zip(given, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("name", "threads"), [("solve", 512), ("relax", 704)])
def test_one_block_runs_all_iterations(name, threads):
    function, given = arguments(name, 500)
    found = parpy.explain(function, *given, opts=CUDA)
    (kernel,) = found.facts["kernels"]
    assert (tuple(kernel["grid"]), tuple(kernel["block"])) == ((1, 1, 1), (threads, 1, 1))
    assert found.facts["loops"][0]["variable"] == "worker"
    again = parpy.explain(function, *given, opts=found.opts)
    assert again.mapping == found.mapping and again.facts["kernels"] == found.facts["kernels"]
    text = parpy.print_compiled(function, given, CUDA)
    assert text.count("__global__") == 1 and "__syncthreads" in text


@pytest.mark.parametrize("backend", TARGETS)
def test_a_loop_in_order_without_vectors_has_no_worker(backend):
    @appy.jit
    def sums(a, N):
        #pragma sequential for
        for i in range(1, N):
            a[i] += a[i - 1]

    a = np.ones(90)
    opts = parpy.auto(backend=parpy.CompileBackend(backend))
    assert [loop["variable"] for loop in parpy.explain(sums, a, 90, opts=opts).facts["loops"]] == ["i"]
    sums(a, 90, opts=opts)
    assert (a == np.arange(1, 91)).all()


def test_loops_that_may_change_places_need_no_worker():
    @appy.jit
    def columns(a, N, M):
        #pragma sequential for
        for i in range(1, N):
            #pragma parallel for simd
            for j in range(M):
                a[i, j] += a[i - 1, j]

    found = parpy.explain(columns, np.ones((20, 5000)), 20, 5000, opts=CUDA)
    assert found.facts["kernels"][0]["grid"][0] > 1


def test_witnesses_do_not_mention_the_worker():
    @appy.jit
    def wrong(a, N):
        #pragma sequential for
        for i in range(N):
            #pragma simd
            for j in range(1, N):
                a[i, j] = a[i, j - 1] + 1

    with pytest.raises(parpy.ParallelError, match="iteration i=0, j=1 writes") as caught:
        wrong(np.ones((9, 9)), 9, opts=parpy.auto(backend=parpy.CompileBackend.Sim))
    assert "worker=" not in str(caught.value)


@pytest.mark.filterwarnings("error::parpy.PerformanceWarning")
@pytest.mark.parametrize("backend", TARGETS)
def test_a_worker_has_memory_for_many_values(backend):
    @appy.jit
    def reversed_sums(a, b, M):
        #pragma parallel for
        for i in range(M):
            t = np.cumsum(a[i, :])
            b[i, :] = t[::-1] + t

    a = np.random.default_rng(4).random((6, 3000))
    got, want = np.zeros((6, 3000)), np.zeros((6, 3000))
    opts = parpy.auto(backend=parpy.CompileBackend(backend))
    reversed_sums(a, got, 6, opts=opts)
    reversed_sums(a, want, 6, seq=True)
    np.testing.assert_allclose(got, want, rtol=1e-12)
    found = parpy.explain(reversed_sums, np.zeros((200, 3000)), np.zeros((200, 3000)), 200, opts=opts)
    assert found.facts["loops"][0]["threads"] == 200
