"""The loop nests that gpu_kernels.py times, in plain style; two are NPBench's."""

from __future__ import annotations

from npbench.kernels.jacobi_2d import jacobi_2d
from npbench.kernels.softmax import softmax

import parpy

__all__ = ["axpy", "jacobi_2d", "row_sums", "softmax", "spmv"]


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
def spmv(row, col, val, x, y, M):
    parpy.label("i")
    for i in range(M):
        s = 0.0
        for k in range(row[i], row[i + 1]):
            s += val[k] * x[col[k]]
        y[i] = s
