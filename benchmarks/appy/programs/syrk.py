"""C = alpha A A^T + beta C in the lower triangle."""

import parpy.appy as appy


@appy.jit
def loops(alpha, beta, C, A, M, N):
    #pragma parallel for
    for i in range(N):
        #pragma parallel for
        for j in range(i + 1):
            total = 0.0
            #pragma simd
            for k in range(M):
                total += A[i, k] * A[j, k]
            C[i, j] = beta * C[i, j] + alpha * total


@appy.jit(auto_simd=True)
def tensors(alpha, beta, C, A, M, N):
    #pragma parallel for
    for i in range(N):
        #pragma parallel for
        for j in range(i + 1):
            C[i, j] = beta * C[i, j] + alpha * sum(A[i, :M] * A[j, :M])
