"""C = alpha A B + beta C."""

import parpy.appy as appy


@appy.jit
def loops(alpha, beta, C, A, B, NI, NJ, NK):
    #pragma parallel for
    for i in range(NI):
        #pragma simd
        for j in range(NJ):
            total = 0.0
            for k in range(NK):
                total += A[i, k] * B[k, j]
            C[i, j] = beta * C[i, j] + alpha * total


@appy.jit(auto_simd=True)
def tensors(alpha, beta, C, A, B, NI, NJ, NK):
    #pragma :NI=>parallel,block(64) :NJ=>parallel,block(64) :NK=>block(32)
    C[:NI, :NJ] = beta * C[:NI, :NJ] + alpha * (A[:NI, :NK] @ B[:NK, :NJ])
