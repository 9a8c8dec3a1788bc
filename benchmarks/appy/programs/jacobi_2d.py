"""Averages of five neighbours."""

import parpy.appy as appy


@appy.jit
def loops(TSTEPS, A, B, N):
    for t in range(1, TSTEPS):
        #pragma parallel for
        for i in range(1, N - 1):
            #pragma simd
            for j in range(1, N - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        #pragma parallel for
        for i in range(1, N - 1):
            #pragma simd
            for j in range(1, N - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])


@appy.jit(auto_simd=True)
def tensors(TSTEPS, A, B, N):
    for t in range(1, TSTEPS):
        #pragma 1:N-1=>parallel 1:N-1=>parallel
        B[1 : N - 1, 1 : N - 1] = 0.2 * (
            A[1 : N - 1, 1 : N - 1]
            + A[1 : N - 1, : N - 2]
            + A[1 : N - 1, 2:N]
            + A[2:N, 1 : N - 1]
            + A[: N - 2, 1 : N - 1]
        )
        #pragma 1:N-1=>parallel 1:N-1=>parallel
        A[1 : N - 1, 1 : N - 1] = 0.2 * (
            B[1 : N - 1, 1 : N - 1]
            + B[1 : N - 1, : N - 2]
            + B[1 : N - 1, 2:N]
            + B[2:N, 1 : N - 1]
            + B[: N - 2, 1 : N - 1]
        )
