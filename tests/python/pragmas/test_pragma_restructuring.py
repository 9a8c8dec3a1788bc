"""Pragmas that only say that loops are parallel leave the compiler free to run steps in blocks and sums of columns in
parts. Those that request sizes or an order keep their loops."""

from __future__ import annotations

import numpy as np
import pytest

import nvrtc
import parpy
from parpy import CompileBackend

N = 131


@pytest.fixture(autouse=True)
def blocks_whatever_can_be(monkeypatch):
    monkeypatch.setenv("PARPY_BLOCK_STEPS", "2")


def solve(L, x, b):
    for i in range(x.shape[0]):
        total = 0.0
        #pragma parallel for simd reduction(+:total)
        for j in range(i):
            total += L[i, j] * x[j]
        x[i] = (b[i] - total) / L[i, i]


def eliminate(L, x, b):
    for k in range(x.shape[0] - 1):
        #pragma parallel for simd
        for i in range(k + 1, x.shape[0]):
            L[i, k] /= L[k, k]
        #pragma parallel for
        for i in range(k + 1, x.shape[0]):
            #pragma simd
            for j in range(k + 1, x.shape[0]):
                L[i, j] -= L[i, k] * L[k, j]


def cholesky(L, x, b):
    for j in range(x.shape[0]):
        #pragma parallel for
        for i in range(j, x.shape[0]):
            total = L[i, j]
            #pragma simd
            for k in range(j):
                total -= L[i, k] * L[j, k]
            L[i, j] = total
        #pragma parallel for simd
        for i in range(j + 1, x.shape[0]):
            L[i, j] /= np.sqrt(L[j, j])


def shortest(L, x, b):
    for k in range(x.shape[0]):
        #pragma parallel for
        for i in range(x.shape[0]):
            if i != k:
                there = L[i, k]
                #pragma simd
                for j in range(x.shape[0]):
                    L[i, j] = min(L[i, j], there + L[k, j])


def shared(L, x, b):
    for i in range(x.shape[0]):
        total = 0.0
        #pragma parallel for simd shared(total)
        for j in range(i):
            total += L[i, j] * x[j]
        x[i] = (b[i] - total) / L[i, i]


def sized(L, x, b):
    for k in range(x.shape[0] - 1):
        #pragma parallel for
        for i in range(k + 1, x.shape[0]):
            #pragma simd(64)
            for j in range(k + 1, x.shape[0]):
                L[i, j] -= L[i, k] * L[k, j] / L[k, k]


def in_order(L, x, b):
    #pragma sequential for
    for i in range(x.shape[0]):
        total = 0.0
        #pragma simd
        for j in range(i):
            total += L[i, j] * x[j]
        x[i] = (b[i] - total) / L[i, i]


FREE = [solve, shared, eliminate, cholesky, shortest]
KEPT = [sized, in_order]


def system(n=N):
    r = np.random.default_rng(5)
    L = r.random((n, n))
    return L @ L.T + n * np.eye(n), r.random(n), r.random(n)


@pytest.mark.parametrize("backend", [CompileBackend.Cpu, CompileBackend.Sim])
@pytest.mark.parametrize("function", FREE + KEPT)
def test_results(function, backend):
    got, want = system(), system()
    function(*want)
    parpy.jit(function)(*got, opts=parpy.auto(backend=backend))
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


def cuda_text(function, *given):
    return parpy.print_compiled(function, *given, opts=parpy.auto(backend=CompileBackend.Cuda))


@pytest.mark.parametrize("function", FREE)
def test_steps_run_in_blocks(function):
    text = cuda_text(function, *system(300))
    assert "+= 64" in text and text.count("__global__") >= 3
    nvrtc.cubin(text)


@pytest.mark.parametrize("function", KEPT)
def test_other_requests_keep_their_loops(function):
    assert "+= 64)" not in cuda_text(function, *system(300)).split("// ---- host code ----")[1]


def test_explain_prints_one_pragma_for_a_line():
    first = eliminate.__code__.co_firstlineno
    for backend in (CompileBackend.Cpu, CompileBackend.Cuda):
        found = parpy.explain(parpy.jit(eliminate), *system(300), opts=parpy.auto(backend=backend)).pragmas
        lines = {line - first: text for line, text in found}
        assert len(lines) == len(found) and 1 not in lines  # the steps keep their order
        assert lines[6] == "#pragma parallel for" and lines[8].startswith("#pragma ")


def columns(A, y, s):
    #pragma parallel for
    for j in range(A.shape[1]):
        total = 0.0
        #pragma simd
        for i in range(A.shape[0]):
            total += A[i, j] * y[i]
        s[j] += 2.0 * total + 1.0


def columns_of_workers(A, y, s):
    #pragma parallel for num_warps(4)
    for j in range(A.shape[1]):
        total = 0.0
        #pragma simd
        for i in range(A.shape[0]):
            total += A[i, j] * y[i]
        s[j] += 2.0 * total + 1.0


def table(rows=3000, columns=300):
    r = np.random.default_rng(3)
    return r.random((rows, columns)), r.random(rows), r.random(columns)


@pytest.mark.parametrize("function", [columns, columns_of_workers])
def test_sums_of_columns(function):
    text = cuda_text(function, *table())
    assert ("total_partials" in text) == (function is columns)
    nvrtc.cubin(text)
    for backend in (CompileBackend.Cpu, CompileBackend.Sim):
        got, want = table(), table()
        function(*want)
        parpy.jit(function)(*got, opts=parpy.auto(backend=backend))
        np.testing.assert_allclose(got[2], want[2], rtol=1e-12)


@pytest.mark.parametrize("deterministic", [False, True])
def test_deterministic_sums_keep_their_order(deterministic):
    opts = parpy.CompileOptions(deterministic=deterministic, backend=CompileBackend.Cuda)
    assert ("total_partials" in parpy.print_compiled(columns, *table(), opts=opts)) != deterministic


def longest(A, n):
    for k in range(n):
        #pragma parallel for
        for i in range(n):
            if i > k:
                t = A[i, k]
                #pragma simd
                for j in range(n):
                    A[i, j] = max(A[i, j], t * 0.5 + A[k, j])


@pytest.mark.parametrize("backend", [CompileBackend.Cpu, CompileBackend.Sim])
@pytest.mark.parametrize("blocks", ["0", "2"])
def test_a_claim_holds_for_one_iteration_of_the_loop_around(backend, blocks, monkeypatch):
    """Iteration i waits for row k, so that the loops over k and i may not change places."""
    monkeypatch.setenv("PARPY_BLOCK_STEPS", blocks)
    start = np.random.default_rng(5).random((70, 73)) / 70 + 2 * np.eye(70, 73)
    want = start.copy()
    longest(want, 70)
    for _ in range(5):  # a race shows at times
        got = start.copy()
        parpy.jit(longest)(got, 70, opts=parpy.auto(backend=backend))
        np.testing.assert_allclose(got, want, rtol=1e-12)
