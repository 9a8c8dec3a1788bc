"""Averages of three neighbours."""

import parpy.appy as appy


@appy.jit
def loops(TSTEPS, A, B, N):
    for t in range(1, TSTEPS):
        #pragma parallel for simd
        for i in range(1, N - 1):
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])
        #pragma parallel for simd
        for i in range(1, N - 1):
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1])


@appy.jit(auto_simd=True)
def tensors(TSTEPS, A, B, N):
    for t in range(1, TSTEPS):
        #pragma 1:N-1=>parallel,simd(256)
        B[1 : N - 1] = 0.33333 * (A[: N - 2] + A[1 : N - 1] + A[2:N])
        #pragma 1:N-1=>parallel,simd(256)
        A[1 : N - 1] = 0.33333 * (B[: N - 2] + B[1 : N - 1] + B[2:N])
