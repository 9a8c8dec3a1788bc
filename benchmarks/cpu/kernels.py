"""The five loop nests of benchmarks/cpu_speed.py and benchmarks/compile_latency.py, labelled for ParPy."""

from __future__ import annotations

import numpy as np

import parpy


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


@parpy.jit
def hdiff(src, coeff, out, I, J, K):
    parpy.label("i")
    for i in range(I):
        for j in range(J):
            parpy.label("k")
            for k in range(K):
                v = src[i + 2, j + 2, k]
                north = src[i + 1, j + 2, k]
                south = src[i + 3, j + 2, k]
                west = src[i + 2, j + 1, k]
                east = src[i + 2, j + 3, k]
                centre = 4.0 * v - (south + north + east + west)
                up = 4.0 * north - (v + src[i, j + 2, k] + src[i + 1, j + 3, k] + src[i + 1, j + 1, k])
                down = 4.0 * south - (src[i + 4, j + 2, k] + v + src[i + 3, j + 3, k] + src[i + 3, j + 1, k])
                left = 4.0 * west - (src[i + 3, j + 1, k] + src[i + 1, j + 1, k] + v + src[i + 2, j, k])
                right = 4.0 * east - (src[i + 3, j + 3, k] + src[i + 1, j + 3, k] + src[i + 2, j + 4, k] + v)
                flux_up = centre - up
                flux_down = down - centre
                flux_left = centre - left
                flux_right = right - centre
                if flux_up * (v - north) > 0.0:
                    flux_up = 0.0
                if flux_down * (south - v) > 0.0:
                    flux_down = 0.0
                if flux_left * (v - west) > 0.0:
                    flux_left = 0.0
                if flux_right * (east - v) > 0.0:
                    flux_right = 0.0
                out[i, j, k] = v - coeff[i, j, k] * (flux_down - flux_up + flux_right - flux_left)
