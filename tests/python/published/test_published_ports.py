"""Programs of NPBench in the style of users of the published ParPy: labels and sizes as arguments (0.1), annotations,
labels by symbols and `parpy.reduce` (0.3). One mapping serves all of them."""

from __future__ import annotations

import numpy as np
import pytest

import nvrtc
import parpy
import parpy.math as pm
from backends import TARGETS
from parpy import par, reduce, threads
from parpy.types import F64, I64, buffer, symbol

N, M, K, T = symbol(), symbol(), symbol(), symbol()
X, Y, Z, W = 9, 11, 7, 4  # N, M, K, T

# ---------------------------------------------------------------- 0.1


@parpy.jit
def trmm(alpha, A, B, M, N):
    for i in range(M):
        parpy.label("M")
        for j in range(N):
            parpy.label("K")
            for k in range(i + 1, M):
                B[i, j] += A[k, i] * B[k, j]
            B[i, j] *= alpha


@parpy.jit
def trisolv(L, x, b, N):
    for i in range(N):
        with parpy.gpu:
            x[i] = b[i]
        parpy.label("N")
        for j in range(i):
            x[i] -= L[i, j] * x[j]
        with parpy.gpu:
            x[i] = x[i] / L[i, i]


@parpy.jit
def jacobi_1d(A, B, steps, n):
    for _ in range(steps):
        parpy.label("N")
        for i in range(1, n - 1):
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])
        parpy.label("N")
        for i in range(1, n - 1):
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1])


@parpy.jit
def cholesky(A, N):
    for i in range(N):
        for j in range(i):
            parpy.label("K")
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            with parpy.gpu:
                A[i, j] /= A[j, j]
        parpy.label("K")
        for k in range(i):
            A[i, i] -= A[i, k] * A[i, k]
        with parpy.gpu:
            A[i, i] = pm.sqrt(A[i, i])


@parpy.jit
def floyd_warshall(path, N):
    for k in range(N):
        parpy.label("N")
        for i in range(N):
            parpy.label("M")
            for j in range(N):
                path[i, j] = parpy.builtin.minimum(path[i, j], path[i, k] + path[k, j])


@parpy.jit
def gesummv(alpha, beta, A, B, x, y, N):
    parpy.label("N")
    for i in range(N):
        parpy.label("K")
        a = parpy.sum(A[i, :] * x[:])
        parpy.label("K")
        b = parpy.sum(B[i, :] * x[:])
        y[i] = alpha * a + beta * b


@parpy.jit
def go_fast(a, out, N):
    trace = 0.0
    parpy.label("N")
    for i in range(N):
        trace += pm.tanh(a[i, i])
    parpy.label("N")
    for i in range(N):
        parpy.label("M")
        for j in range(N):
            out[i, j] = a[i, j] + trace


# ---------------------------------------------------------------- 0.3


@parpy.jit
def softmax(x: buffer(F64, [N, M]), out: buffer(F64, [N, M])):
    for i in range(N):
        m = reduce.max(x[i, :])
        out[i, :] = pm.exp(x[i, :] - m)
        s = reduce.sum(out[i, :])
        out[i, :] /= s


@parpy.jit
def covariance(data: buffer(F64, [N, M]), mean: buffer(F64, [M]), cov: buffer(F64, [M, M]), float_n: F64):
    mean[:] = reduce.sum(data[:, :], axis=0) / float_n
    data[:, :] = data[:, :] - mean[:]
    for i in range(M):
        for j in range(i, M):
            cov[i, j] = reduce.sum(data[:, i] * data[:, j])
            cov[i, j] /= float_n - 1.0
            cov[j, i] = cov[i, j]


@parpy.jit
def hdiff(
    src: buffer(F64, [None, None, K]),
    dst: buffer(F64, [N, M, K]),
    coeff: buffer(F64, [N, M, K]),
    lap: buffer(F64, [None, None, K]),
):
    lap[: N + 2, : M + 2, :K] = 4.0 * src[1 : N + 3, 1 : M + 3, :] - (
        src[2 : N + 4, 1 : M + 3, :]
        + src[0 : N + 2, 1 : M + 3, :]
        + src[1 : N + 3, 2 : M + 4, :]
        + src[1 : N + 3, 0 : M + 2, :]
    )
    for i in range(N):
        for j in range(M):
            for k in range(K):
                dst[i, j, k] = src[i + 2, j + 2, k] - coeff[i, j, k] * (lap[i + 1, j + 1, k] - lap[i, j + 1, k])


@parpy.jit
def spmv(
    rows: buffer(I64, [T]),
    columns: buffer(I64, [K]),
    values: buffer(F64, [K]),
    x: buffer(F64, [M]),
    y: buffer(F64, [N]),
):
    for i in range(N):
        y[i] = 0.0
        for j in range(rows[i], rows[i + 1]):
            y[i] += values[j] * x[columns[j]]


@parpy.jit
def heat(A: buffer(F64, [N, M]), B: buffer(F64, [N, M]), steps: I64):
    src, dst = A, B
    for t in range(steps):
        for i in range(1, N - 1):
            for j in range(1, M - 1):
                dst[i, j] = 0.25 * (src[i - 1, j] + src[i + 1, j] + src[i, j - 1] + src[i, j + 1])
        src, dst = dst, src


@parpy.jit
def azimint(data: buffer(F64, [N]), radius: buffer(F64, [N]), out: buffer(F64, [K]), rmax: buffer(F64, [1])):
    rmax[0] = reduce.max(radius[:])
    for i in range(K):
        low = rmax[0] * i / K
        high = rmax[0] * (i + 1) / K
        total = 0.0
        count = 0.0
        for j in range(N):
            if low <= radius[j] and radius[j] < high:
                total += data[j]
                count += 1.0
        out[i] = total / parpy.builtin.maximum(count, 1.0)


@parpy.jit
def tridiagonal(c, d, x, N, M):
    parpy.label("N")
    for i in range(N):
        for j in range(M):
            if j == 0:
                last = d[i, j]
            elif j < M - 1:
                last = d[i, j] - c[i, j] * last
            x[i, j] = last
        for j in range(M - 1, -1, -1):
            if j == M - 1:
                value = x[i, j]  # each row sets it in its first iteration
            if j < M - 1:
                value = x[i, j] - c[i, j] * value
            x[i, j] = value


MAPPING = {
    "N": threads(8),
    "M": threads(64),
    "K": threads(2048).tpb(64),
    "T": threads(2),
    "unknown": threads(99),
}


def positive(r, n):
    a = r.random((n, n))
    return a @ a.T + n * np.eye(n)


def cases():
    r = np.random.default_rng(0)
    square = r.random((X, X))
    rows = np.minimum(np.arange(0, X + 1) * 2, 2 * X)
    zero = np.zeros
    return {
        trmm: (1.5, r.random((X, X)), r.random((X, Y)), X, Y),
        trisolv: (np.tril(square) + np.eye(X), zero(X), r.random(X), X),
        jacobi_1d: (r.random(40), r.random(40), 3, 40),
        cholesky: (positive(r, X), X),
        floyd_warshall: (r.random((X, X)), X),
        gesummv: (1.5, 0.5, square, r.random((X, X)), r.random(X), zero(X), X),
        go_fast: (square, zero((X, X)), X),
        softmax: (r.random((X, Y)), zero((X, Y))),
        covariance: (r.random((X, Y)), zero(Y), zero((Y, Y)), float(X)),
        hdiff: (r.random((X + 4, Y + 4, Z)), zero((X, Y, Z)), r.random((X, Y, Z)), zero((X + 2, Y + 2, Z))),
        spmv: (rows, r.integers(0, Y, 2 * X), r.random(2 * X), r.random(Y), zero(X)),
        heat: (r.random((X, Y)), r.random((X, Y)), 3),
        tridiagonal: (r.random((X, Y)), r.random((X, Y)), zero((X, Y)), X, Y),
        azimint: (r.random(300), r.random(300), zero(Z), zero(1)),
    }


ALL = list(cases())


def opts_of(backend, function):
    # Blocks of one nest have one size, as in the published compiler; only the sums of rows are loops of that size.
    mapping = dict(MAPPING)
    if function in (hdiff, azimint):
        mapping["K"] = threads(32)
    opts = par(mapping)
    opts.backend = parpy.CompileBackend(backend)
    if function is azimint:
        mapping["gpu"] = threads(1)
        opts.parallelize = mapping
    if function is floyd_warshall:
        opts.legality = "trust"  # step k does not change row and column k
    return opts


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("function", ALL, ids=lambda f: f.__name__)
def test_results(function, backend):
    got, want = cases()[function], cases()[function]
    function(*want, seq=True)
    function(*got, opts=opts_of(backend, function))
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11)


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
@pytest.mark.parametrize("function", ALL, ids=lambda f: f.__name__)
def test_automatic_mode(function):
    got, want = cases()[function], cases()[function]
    function(*want, seq=True)
    function(*got)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11)


@pytest.mark.parametrize("function", ALL, ids=lambda f: f.__name__)
def test_text(function):
    text = parpy.print_compiled(function, list(cases()[function]), opts_of("cuda", function))
    nvrtc.cubin(text)
    assert "atomic_add(&A[" not in text and "atomic_add(&B[" not in text and "atomic_add(&x[" not in text


def test_the_race_of_a_published_program():
    opts = opts_of("sim", floyd_warshall)
    opts.legality = "check"
    with pytest.raises(parpy.ParallelError, match=r"iteration k=0, i=0, j=0 writes path\[0, 0\]") as caught:
        floyd_warshall(*cases()[floyd_warshall], opts=opts)
    assert "legality='trust'" in str(caught.value) and "P301" not in str(caught.value)


def test_slices_with_other_extents_are_mapped():
    found = parpy.explain(hdiff, *cases()[hdiff], opts=opts_of("cuda", hdiff)).facts
    assert [loop["threads"] for loop in found["loops"]] == [8, 64, 32] * 2
    assert len(found["kernels"]) == 2
