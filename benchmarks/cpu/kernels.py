"""The five loop nests of cpu_speed.py and compile_latency.py, labelled for ParPy; hdiff is NPBench's."""

from __future__ import annotations

import numpy as np
from npbench.kernels.hdiff import hdiff

import parpy

__all__ = ["axpy", "hdiff", "increment", "jacobi_2d", "softmax", "spmv"]


@parpy.jit
def increment(x, n):
    parpy.label("i")
    for i in range(n):
        x[i] = x[i] + 1.0


@parpy.jit
def axpy(a, x, y, n):
    parpy.label("i")
    for i in range(n):
        y[i] = a * x[i] + y[i]


@parpy.jit
def softmax(x, out, n, m):
    parpy.label("i")
    for i in range(n):
        top = x[i, 0]
        parpy.label("j")
        for j in range(m):
            top = max(top, x[i, j])
        total = 0.0
        parpy.label("j")
        for j in range(m):
            out[i, j] = np.exp(x[i, j] - top)
            total += out[i, j]
        parpy.label("k")
        for j in range(m):
            out[i, j] /= total


@parpy.jit
def jacobi_2d(A, B, n):
    parpy.label("i")
    for i in range(1, n - 1):
        parpy.label("j")
        for j in range(1, n - 1):
            B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])


@parpy.jit
def spmv(start, column, value, x, y, n):
    parpy.label("i")
    for i in range(n):
        s = 0.0
        for k in range(start[i], start[i + 1]):
            s += value[k] * x[column[k]]
        y[i] = s
