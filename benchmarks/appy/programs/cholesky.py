"""Cholesky decomposition in the lower triangle, row by row in one worker."""

import numpy as np

import parpy.appy as appy


@appy.jit
def loops(A, N):
    #pragma sequential for
    for i in range(N):
        for j in range(i):
            total = 0.0
            #pragma simd
            for k in range(j):
                total += A[i, k] * A[j, k]
            A[i, j] = (A[i, j] - total) / A[j, j]
        square = 0.0
        #pragma simd
        for k in range(i):
            square += A[i, k] * A[i, k]
        A[i, i] = np.sqrt(A[i, i] - square)


@appy.jit(auto_simd=True)
def tensors(A, N):
    for j in range(N):
        A[j, j] = np.sqrt(A[j, j] - sum(A[j, :j] * A[j, :j]))
        #pragma parallel for
        for i in range(j + 1, N):
            A[i, j] = (A[i, j] - sum(A[i, :j] * A[j, :j])) / A[j, j]
