"""C = alpha A B + beta C, where A is symmetric and given by its lower triangle."""

import parpy.appy as appy


@appy.jit
def loops(alpha, beta, C, A, B, M, N):
    #pragma parallel for
    for i in range(M):
        #pragma simd
        for j in range(N):
            total = 0.0
            for k in range(i + 1):
                total += A[i, k] * B[k, j]
            for k in range(i + 1, M):
                total += A[k, i] * B[k, j]
            C[i, j] = beta * C[i, j] + alpha * total


@appy.jit(auto_simd=True)
def tensors(alpha, beta, C, A, B, M, N):
    #pragma parallel for
    for i in range(M):
        C[i, :N] *= beta
        for k in range(i + 1):
            C[i, :N] += alpha * A[i, k] * B[k, :N]
        for k in range(i + 1, M):
            C[i, :N] += alpha * A[k, i] * B[k, :N]
