"""The loop nests that gpu_kernels.py times, as one would write them."""

from __future__ import annotations

import numpy as np

import parpy


@parpy.jit
def axpy(a, x, y, N):
    parpy.label("i")
    for i in range(N):
        y[i] = a * x[i] + y[i]


@parpy.jit
def row_sums(x, y, N, M):
    parpy.label("i")
    for i in range(N):
        y[i] = 0.0
        parpy.label("j")
        for j in range(M):
            y[i] += x[i, j]


@parpy.jit
def softmax(x, out, N, H, SM):
    parpy.label("n")
    for n in range(N):
        parpy.label("h")
        for h in range(H):
            parpy.label("i")
            for i in range(SM):
                top = x[n, h, i, 0]
                parpy.label("j")
                for j in range(SM):
                    top = max(top, x[n, h, i, j])
                total = np.float32(0.0)
                parpy.label("j")
                for j in range(SM):
                    out[n, h, i, j] = np.exp(x[n, h, i, j] - top)
                    total += out[n, h, i, j]
                parpy.label("k")
                for j in range(SM):
                    out[n, h, i, j] = out[n, h, i, j] / total


@parpy.jit
def jacobi_2d(A, B, TSTEPS, N):
    for _t in range(1, TSTEPS):
        parpy.label("i")
        for i in range(1, N - 1):
            parpy.label("j")
            for j in range(1, N - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        parpy.label("i")
        for i in range(1, N - 1):
            parpy.label("j")
            for j in range(1, N - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])


@parpy.jit
def spmv(row, col, val, x, y, M):
    parpy.label("i")
    for i in range(M):
        s = 0.0
        for k in range(row[i], row[i + 1]):
            s += val[k] * x[col[k]]
        y[i] = s
