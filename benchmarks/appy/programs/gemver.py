"""A rank-2 update, and products with the matrix and its transpose."""

import parpy.appy as appy
from parpy.appy import mv


@appy.jit
def loops(alpha, beta, A, u1, v1, u2, v2, w, x, y, z, N):
    #pragma parallel for
    for i in range(N):
        #pragma simd
        for j in range(N):
            A[i, j] += u1[i] * v1[j] + u2[i] * v2[j]
    #pragma parallel for
    for j in range(N):
        total = 0.0
        #pragma simd
        for i in range(N):
            total += A[i, j] * y[i]
        x[j] += beta * total + z[j]
    #pragma parallel for
    for i in range(N):
        total = 0.0
        #pragma simd
        for j in range(N):
            total += A[i, j] * x[j]
        w[i] += alpha * total


@appy.jit(auto_simd=True)
def tensors(alpha, beta, A, u1, v1, u2, v2, w, x, y, z, N):
    #pragma :N=>parallel :N=>parallel
    A[:N, :N] += u1[:N, None] * v1[None, :N] + u2[:N, None] * v2[None, :N]
    #pragma :N=>parallel :N=>reduce(sum:x)
    x[:N] += beta * mv(A[:N, :N].T, y[:N]) + z[:N]
    #pragma :N=>parallel :N=>reduce(sum:w)
    w[:N] += alpha * mv(A[:N, :N], x[:N])
