"""NPBench's programs as a user of the published ParPy 0.3 writes and maps them: annotations, labels by symbols, slices
and `parpy.reduce`; each call makes its results as buffers. Outer loops have as many threads as iterations, which are
blocks of a GPU; inner loops and reductions have up to 1024 threads.

A run on an H200 (`run.py --backend cuda --preset paper --framework published`) compares with the times of ParPy 0.3.3
in peers_h200.json, which include the results' memory, too. The mappings follow its documents; its authors' own are not
copied.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import parpy
from parpy import CompileBackend, reduce, threads
from parpy.buffer import empty
from parpy.types import F32, F64, I64, U32, buffer, symbol

I, J, K, N, M, H, S, T = map(symbol, "IJKNMHST")
SUM = threads(256).reduce()


def par(backend: CompileBackend, mapping: dict[str, parpy.LoopPar], **fields: Any) -> parpy.CompileOptions:
    return parpy.CompileOptions(parallelize=mapping, backend=backend, **fields)


@parpy.jit
def distances(
    theta_1: buffer(F64, [N]),
    phi_1: buffer(F64, [N]),
    theta_2: buffer(F64, [N]),
    phi_2: buffer(F64, [N]),
    out: buffer(F64, [N]),
):
    for i in range(N):
        a = parpy.math.sin((theta_2[i] - theta_1[i]) / 2.0) ** 2
        b = parpy.math.sin((phi_2[i] - phi_1[i]) / 2.0) ** 2
        t = a + parpy.math.cos(theta_1[i]) * parpy.math.cos(theta_2[i]) * b
        out[i] = 2.0 * parpy.math.atan2(parpy.math.sqrt(t), parpy.math.sqrt(1.0 - t))


def arc_distance(theta_1, phi_1, theta_2, phi_2, *, backend=CompileBackend.Auto):
    out = empty(theta_1.shape, F64, backend)
    distances(theta_1, phi_1, theta_2, phi_2, out, opts=par(backend, {"N": threads(out.shape[0]).tpb(256)}))
    return out


@parpy.jit
def rings(data: buffer(F64, [N]), radius: buffer(F64, [N]), largest: buffer(F64, [1]), res: buffer(F64, [K])):
    with parpy.gpu:
        largest[0] = reduce.max(radius[:])
    for i in range(K):
        low, high = largest[0] * i / K, largest[0] * (i + 1) / K
        count, total = 0.0, 0.0
        for j in range(N):
            if low <= radius[j] and radius[j] < high:
                count += 1.0
                total += data[j]
        res[i] = total / count


def azimint_naive(data, radius, npt, *, backend=CompileBackend.Auto):
    res, largest = empty((npt,), F64, backend), empty((1,), F64, backend)
    rings(data, radius, largest, res, opts=par(backend, {"K": threads(npt), "N": threads(1024).reduce()}))
    return res


@parpy.jit
def clipped(x: buffer(I64, [N, M]), y: buffer(I64, [N, M]), a: I64, b: I64, c: I64, out: buffer(I64, [N, M])):
    out[:, :] = parpy.builtin.minimum(parpy.builtin.maximum(x[:, :], 2), 10) * a + y[:, :] * b + c


def compute(array_1, array_2, a, b, c, *, backend=CompileBackend.Auto):
    out = empty(array_1.shape, I64, backend)
    clipped(array_1, array_2, a, b, c, out, opts=par(backend, {"N": threads(out.shape[0]), "M": threads(256)}))
    return out


@parpy.jit
def add_trace(a: buffer(F64, [N, M]), trace: buffer(F64, [1]), out: buffer(F64, [N, M])):
    with parpy.gpu:
        trace[0] = 0.0
        parpy.label("diagonal")
        for i in range(N):
            trace[0] += parpy.math.tanh(a[i, i])
    out[:, :] = a[:, :] + trace[0]


def go_fast(a, *, backend=CompileBackend.Auto):
    out, trace = empty(a.shape, F64, backend), empty((1,), F64, backend)
    mapping = {"diagonal": threads(1024).reduce(), "N": threads(a.shape[0]), "M": threads(1024)}
    add_trace(a, trace, out, opts=par(backend, mapping))
    return out


@parpy.jit
def orthogonalized(A: buffer(F64, [N, M]), Q: buffer(F64, [N, M]), R: buffer(F64, [M, M])):
    for k in range(M):
        with parpy.gpu:
            parpy.label("sum")
            R[k, k] = parpy.math.sqrt(reduce.sum(A[:, k] * A[:, k]))
        Q[:, k] = A[:, k] / R[k, k]
        parpy.label("columns")
        for j in range(k + 1, M):
            parpy.label("sum")
            R[k, j] = reduce.sum(Q[:, k] * A[:, j])
            parpy.label("sum")
            A[:, j] -= Q[:, k] * R[k, j]


def gramschmidt(A, *, backend=CompileBackend.Auto):
    Q, R = parpy.buffer.zeros(A.shape, F64, backend), parpy.buffer.zeros((A.shape[1],) * 2, F64, backend)
    mapping = {"N": threads(256), "columns": threads(A.shape[1]), "sum": threads(256)}
    orthogonalized(A, Q, R, opts=par(backend, mapping, use_cuda_graphs=True))
    return Q, R


@parpy.jit
def diffused(
    f,
    coeff: buffer(F64, [I, J, K]),
    out: buffer(F64, [I, J, K]),
    lap,
    flx,
    fly,
):
    lap[: I + 2, : J + 2, :K] = 4.0 * f[1 : I + 3, 1 : J + 3, :] - (
        f[2 : I + 4, 1 : J + 3, :] + f[: I + 2, 1 : J + 3, :] + f[1 : I + 3, 2 : J + 4, :] + f[1 : I + 3, : J + 2, :]
    )
    for i in range(I + 1):
        for j in range(J):
            for k in range(K):
                x = lap[i + 1, j + 1, k] - lap[i, j + 1, k]
                flx[i, j, k] = 0.0 if x * (f[i + 2, j + 2, k] - f[i + 1, j + 2, k]) > 0.0 else x
    for i in range(I):
        for j in range(J + 1):
            for k in range(K):
                y = lap[i + 1, j + 1, k] - lap[i + 1, j, k]
                fly[i, j, k] = 0.0 if y * (f[i + 2, j + 2, k] - f[i + 2, j + 1, k]) > 0.0 else y
    out[:, :, :] = f[2 : I + 2, 2 : J + 2, :] - coeff[:, :, :] * (
        flx[1:, :, :] - flx[:-1, :, :] + fly[:, 1:, :] - fly[:, :-1, :]
    )


def hdiff(in_field, coeff, out_field, I, J, K, *, backend=CompileBackend.Auto):
    fields = [empty(shape, F64, backend) for shape in ((I + 2, J + 2, K), (I + 1, J, K), (I, J + 1, K))]
    mapping = {"I": threads(I), "J": threads(J), "K": threads(K)}
    diffused(in_field, coeff, out_field, *fields, opts=par(backend, mapping))


@parpy.jit
def smoothed(steps: I64, A: buffer(F64, [N, M]), B: buffer(F64, [N, M])):
    for _ in range(1, steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


def jacobi_2d(TSTEPS, A, B, N, *, backend=CompileBackend.Auto):
    smoothed(TSTEPS, A, B, opts=par(backend, {"N": threads(N), "M": threads(1024)}, use_cuda_graphs=True))


@parpy.jit
def softmaxes(x: buffer(F32, [N, H, S, T]), out: buffer(F32, [N, H, S, T])):
    for n in range(N):
        for h in range(H):
            for i in range(S):
                largest = reduce.max(x[n, h, i, :])
                out[n, h, i, :] = parpy.math.exp(x[n, h, i, :] - largest)
                total = reduce.sum(out[n, h, i, :])
                out[n, h, i, :] /= total


def softmax(x, *, backend=CompileBackend.Auto):
    out = empty(x.shape, F32, backend)
    mapping = {"N": threads(x.shape[0]), "H": threads(x.shape[1]), "S": threads(x.shape[2]), "T": threads(128)}
    softmaxes(x, out, opts=par(backend, mapping))
    return out


@parpy.jit
def row_products(
    A_row: buffer(U32, [T]), A_col: buffer(U32, [K]), A_val: buffer(F64, [K]), x: buffer(F64, [M]), y: buffer(F64, [N])
):
    for i in range(N):
        y[i] = 0.0
        parpy.label("row")
        for j in range(A_row[i], A_row[i + 1]):
            y[i] += A_val[j] * x[A_col[j]]


def spmv(A_row, A_col, A_val, x, *, backend=CompileBackend.Auto):
    y = empty((A_row.shape[0] - 1,), F64, backend)
    mapping = {"N": threads(y.shape[0]), "row": threads(32).reduce()}
    row_products(A_row, A_col, A_val, x, y, opts=par(backend, mapping))
    return y


@parpy.jit
def rank_update(alpha: F64, beta: F64, C: buffer(F64, [N, N]), A: buffer(F64, [N, M])):
    parpy.label("rows")
    for i in range(N):
        parpy.label("columns")
        for j in range(i + 1):
            C[i, j] *= beta
            for k in range(M):
                C[i, j] += alpha * A[i, k] * A[j, k]


def syrk(alpha, beta, C, A, *, backend=CompileBackend.Auto):
    mapping = {"rows": threads(A.shape[0]), "columns": threads(256)}
    rank_update(alpha, beta, C, A, opts=par(backend, mapping))


@parpy.jit
def solved(L: buffer(F64, [N, N]), x: buffer(F64, [N]), b: buffer(F64, [N])):
    for i in range(N):
        with parpy.gpu:
            total = 0.0
            parpy.label("sum")
            for j in range(i):
                total += L[i, j] * x[j]
            x[i] = (b[i] - total) / L[i, i]


def trisolv(L, x, b, *, backend=CompileBackend.Auto):
    solved(L, x, b, opts=par(backend, {"sum": threads(1024).reduce()}, use_cuda_graphs=True))


@parpy.jit
def triangle_product(alpha: F64, A: buffer(F64, [M, M]), B: buffer(F64, [M, N])):
    for i in range(M):
        parpy.label("columns")
        for j in range(N):
            parpy.label("sum")
            for k in range(i + 1, M):
                B[i, j] += A[k, i] * B[k, j]
    parpy.label("rows")
    parpy.label("columns")
    B[:, :] *= alpha


def trmm(alpha, A, B, *, backend=CompileBackend.Auto):
    mapping = {"columns": threads(B.shape[1]), "sum": SUM, "rows": threads(B.shape[0])}
    triangle_product(alpha, A, B, opts=par(backend, mapping, use_cuda_graphs=True))


_ALL = (
    arc_distance,
    azimint_naive,
    compute,
    go_fast,
    gramschmidt,
    hdiff,
    jacobi_2d,
    softmax,
    spmv,
    syrk,
    trisolv,
    trmm,
)
PORTS: dict[str, Callable[..., Any]] = {port.__name__: port for port in _ALL}
