"""Vectors of subscripts that users write by hand: keywords, names that mean one vector after the other."""

from __future__ import annotations

import numpy as np
import pytest

import backends
import nvrtc
import parpy
import parpy.appy as appy
from parpy.appy import MVL, vidx
from parpy.appy._strip_mine import strip_mined

RNG = np.random.default_rng(8)

# fmt: off


@parpy.jit
def two_loops(x, y, N, M):
    #pragma parallel for
    for i in range(0, N, MVL):
        v = vidx(i, MVL, N)
        x[v] = 1 + x[v]
    #pragma parallel for
    for i in range(0, M, 64):
        v = vidx(i, 64, bound=M)
        y[v] = 2 + y[v]


@parpy.jit
def triangle(C, A, n):
    #pragma parallel for
    for i in range(n):
        for j in range(0, i + 1, 4):
            v = appy.vidx(j, 4, i + 1)
            C[i, v] *= 2
    #pragma parallel for
    for i in range(n):
        for k in range(A.shape[1]):
            for j in range(0, i + 1, 4):
                v = appy.vindex(j, stepsize=4, bound=i + 1)
                C[i, v] += A[i, k] * A[v, k]


@parpy.jit
def chosen(x, N, c):
    if c:  # noqa: SIM108
        v = appy.vidx(0, 4, N)
    else:
        v = appy.vidx(8, 4, N)
    #pragma parallel for
    for t in range(1):
        x[v] = t + 1


@parpy.jit
def other_bound(x, N):
    v = appy.vidx(0, 4, N)
    #pragma parallel for
    for t in range(1):
        x[v] = 1
    N = 3
    #pragma parallel for
    for t in range(1):
        x[v] = 2


@parpy.jit
def by_keywords(x, N):
    #pragma parallel for
    for i in range(0, N, 16):
        x[appy.step(start=i, stepsize=16, bound=N)] = 2.0


# fmt: on
CASES = {
    "two_loops": (two_loops, (RNG.random(300), RNG.random(200), 300, 200)),
    "triangle": (triangle, (RNG.random((9, 9)), RNG.random((9, 7)), 9)),
    "chosen": (chosen, (RNG.random(10), 10, True)),
    "not_chosen": (chosen, (RNG.random(10), 10, False)),
    "by_keywords": (by_keywords, (RNG.random(100), 100)),
}


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
@pytest.mark.parametrize("backend", backends.BACKENDS)
@pytest.mark.parametrize("case", CASES)
def test_gives_what_python_does(case, backend):
    function, given = CASES[case]
    want, got = backends.copies(given), backends.copies(given)
    function.__wrapped__(*want)
    backends.run(backend, function, got, {})
    for a, b in zip(want, got, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
@pytest.mark.parametrize("backend", backends.TARGETS)
def test_a_vector_keeps_the_bound_that_it_was_made_with(backend):
    got, want = np.zeros(10), np.zeros(10)
    other_bound(got, 10, opts=backends.options(backend, {}))
    other_bound.__wrapped__(want, 10)
    assert (got == want).all()


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
@pytest.mark.parametrize("case", CASES)
def test_cuda_text_compiles(case):
    function, given = CASES[case]
    nvrtc.cubin(backends.cuda_text(function, given, {}))


def test_a_length_that_the_compiler_chooses_is_that_of_the_machine():
    source = """
    @appy.jit(tune={"BM": (2, 4)})
    def gemm(alpha, C, A, B):
        M, N = C.shape
        K = A.shape[1]
        #pragma :M=>parallel,block(BM) :N=>parallel,block(BN) :K=>block(BK)
        C[:M, :N] = alpha * A[:M, :K] @ B[:K, :N]
    """
    text = strip_mined(appy.compile_from_src(source).__parpy_source__)
    assert "range(0, K, appy.MVL)" in text and "BK" not in text
    A, B, C = RNG.random((5, 300)), RNG.random((300, 7)), np.zeros((5, 7))
    dumped = appy.compile_from_src(text)
    for how in ({"seq": True}, {}):
        dumped(2.0, C, A, B, **how)
        np.testing.assert_allclose(C, 2 * A @ B)
        C[:] = 0
