"""Columns of A made orthonormal, one after the other."""

import numpy as np

import parpy.appy as appy


@appy.jit
def loops(A, Q, R, M, N):
    for k in range(N):
        square = 0.0
        #pragma parallel for simd reduction(+:square)
        for i in range(M):
            square += A[i, k] * A[i, k]
        #pragma parallel for simd
        for i in range(M):
            Q[i, k] = A[i, k] / np.sqrt(square)
        #pragma parallel for
        for j in range(k, N):
            s = 0.0
            #pragma simd
            for i in range(M):
                s += Q[i, k] * A[i, j]
            R[k, j] = s
        #pragma parallel for
        for j in range(k + 1, N):
            #pragma simd
            for i in range(M):
                A[i, j] -= Q[i, k] * R[k, j]


@appy.jit(auto_simd=True)
def tensors(A, Q, R, M, N):
    for k in range(N):
        R[k, k] = np.sqrt(sum(A[:M, k] * A[:M, k]))
        #pragma :M=>parallel
        Q[:M, k] = A[:M, k] / R[k, k]
        #pragma parallel for
        for j in range(k + 1, N):
            s = sum(Q[:M, k] * A[:M, j])
            A[:M, j] -= Q[:M, k] * s
            R[k, j] = s
