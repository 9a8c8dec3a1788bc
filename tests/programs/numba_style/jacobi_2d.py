"""Smoothing in two dimensions, in explicit loops."""

import parpy as nb


@nb.jit(nopython=True, parallel=True, fastmath=True)
def jacobi_2d(TSTEPS, A, B):
    for t in range(1, TSTEPS):
        for i in nb.prange(1, A.shape[0] - 1):
            for j in range(1, A.shape[1] - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        for i in nb.prange(1, A.shape[0] - 1):
            for j in range(1, A.shape[1] - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])
