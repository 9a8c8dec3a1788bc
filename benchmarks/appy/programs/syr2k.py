"""C = alpha (A B^T + B A^T) + beta C in the lower triangle."""

import parpy.appy as appy


@appy.jit
def loops(alpha, beta, C, A, B, M, N):
    #pragma parallel for
    for i in range(N):
        #pragma parallel for
        for j in range(i + 1):
            total = 0.0
            #pragma simd
            for k in range(M):
                total += A[i, k] * B[j, k] + B[i, k] * A[j, k]
            C[i, j] = beta * C[i, j] + alpha * total


@appy.jit(auto_simd=True)
def tensors(alpha, beta, C, A, B, M, N):
    #pragma parallel for
    for i in range(N):
        #pragma parallel for
        for j in range(i + 1):
            C[i, j] = beta * C[i, j] + alpha * sum(A[i, :M] * B[j, :M] + B[i, :M] * A[j, :M])
