"""Heat in a cube."""

import parpy.appy as appy


@appy.jit
def loops(TSTEPS, A, B, N):
    for t in range(1, TSTEPS):
        #pragma parallel for
        for i in range(1, N - 1):
            #pragma parallel for
            for j in range(1, N - 1):
                #pragma simd
                for k in range(1, N - 1):
                    B[i, j, k] = (
                        0.125 * (A[i + 1, j, k] - 2.0 * A[i, j, k] + A[i - 1, j, k])
                        + 0.125 * (A[i, j + 1, k] - 2.0 * A[i, j, k] + A[i, j - 1, k])
                        + 0.125 * (A[i, j, k + 1] - 2.0 * A[i, j, k] + A[i, j, k - 1])
                        + A[i, j, k]
                    )
        #pragma parallel for
        for i in range(1, N - 1):
            #pragma parallel for
            for j in range(1, N - 1):
                #pragma simd
                for k in range(1, N - 1):
                    A[i, j, k] = (
                        0.125 * (B[i + 1, j, k] - 2.0 * B[i, j, k] + B[i - 1, j, k])
                        + 0.125 * (B[i, j + 1, k] - 2.0 * B[i, j, k] + B[i, j - 1, k])
                        + 0.125 * (B[i, j, k + 1] - 2.0 * B[i, j, k] + B[i, j, k - 1])
                        + B[i, j, k]
                    )


@appy.jit(auto_simd=True)
def tensors(TSTEPS, A, B, N):
    for t in range(1, TSTEPS):
        #pragma 1:N-1=>parallel 1:N-1=>parallel 1:N-1=>parallel
        B[1 : N - 1, 1 : N - 1, 1 : N - 1] = (
            0.125
            * (
                A[2:N, 1 : N - 1, 1 : N - 1]
                - 2.0 * A[1 : N - 1, 1 : N - 1, 1 : N - 1]
                + A[: N - 2, 1 : N - 1, 1 : N - 1]
            )
            + 0.125
            * (
                A[1 : N - 1, 2:N, 1 : N - 1]
                - 2.0 * A[1 : N - 1, 1 : N - 1, 1 : N - 1]
                + A[1 : N - 1, : N - 2, 1 : N - 1]
            )
            + 0.125
            * (
                A[1 : N - 1, 1 : N - 1, 2:N]
                - 2.0 * A[1 : N - 1, 1 : N - 1, 1 : N - 1]
                + A[1 : N - 1, 1 : N - 1, : N - 2]
            )
            + A[1 : N - 1, 1 : N - 1, 1 : N - 1]
        )
        #pragma 1:N-1=>parallel 1:N-1=>parallel 1:N-1=>parallel
        A[1 : N - 1, 1 : N - 1, 1 : N - 1] = (
            0.125
            * (
                B[2:N, 1 : N - 1, 1 : N - 1]
                - 2.0 * B[1 : N - 1, 1 : N - 1, 1 : N - 1]
                + B[: N - 2, 1 : N - 1, 1 : N - 1]
            )
            + 0.125
            * (
                B[1 : N - 1, 2:N, 1 : N - 1]
                - 2.0 * B[1 : N - 1, 1 : N - 1, 1 : N - 1]
                + B[1 : N - 1, : N - 2, 1 : N - 1]
            )
            + 0.125
            * (
                B[1 : N - 1, 1 : N - 1, 2:N]
                - 2.0 * B[1 : N - 1, 1 : N - 1, 1 : N - 1]
                + B[1 : N - 1, 1 : N - 1, : N - 2]
            )
            + B[1 : N - 1, 1 : N - 1, 1 : N - 1]
        )
