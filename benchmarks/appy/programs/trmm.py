"""B = alpha A^T B, where A is a lower triangle with ones on the diagonal."""

import parpy.appy as appy
from parpy.appy import dot


@appy.jit
def loops(alpha, A, B, M, N):
    #pragma parallel for
    for j in range(N):
        for i in range(M):
            total = B[i, j]
            #pragma simd
            for k in range(i + 1, M):
                total += A[k, i] * B[k, j]
            B[i, j] = alpha * total


@appy.jit(auto_simd=True)
def tensors(alpha, A, B, M, N):
    #pragma parallel for
    for j in range(N):
        for i in range(M):
            B[i, j] = alpha * (B[i, j] + dot(A[i + 1 : M, i], B[i + 1 : M, j]))
