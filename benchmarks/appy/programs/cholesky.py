"""Cholesky decomposition in the lower triangle, column by column; the diagonal keeps squares until the end."""

import numpy as np

import parpy.appy as appy
from parpy.appy import dot


@appy.jit
def loops(A, N):
    for j in range(N):
        #pragma parallel for
        for i in range(j, N):
            total = A[i, j]
            #pragma simd
            for k in range(j):
                total -= A[i, k] * A[j, k]
            A[i, j] = total
        #pragma parallel for simd
        for i in range(j + 1, N):
            A[i, j] /= np.sqrt(A[j, j])
    #pragma parallel for simd
    for j in range(N):
        A[j, j] = np.sqrt(A[j, j])


@appy.jit(auto_simd=True)
def tensors(A, N):
    for j in range(N):
        #pragma parallel for
        for i in range(j, N):
            A[i, j] -= dot(A[i, :j], A[j, :j])
        #pragma parallel for simd
        for i in range(j + 1, N):
            A[i, j] /= np.sqrt(A[j, j])
    #pragma parallel for simd
    for j in range(N):
        A[j, j] = np.sqrt(A[j, j])
