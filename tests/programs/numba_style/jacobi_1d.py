"""Smoothing in one dimension, from one array to the other and back."""

import parpy as nb


@nb.jit(nopython=True, parallel=True, fastmath=True)
def jacobi_1d(TSTEPS, A, B):
    for t in range(1, TSTEPS):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])
