"""The sum of two products with a vector, in explicit loops."""

import numpy as np

import parpy as nb


@nb.jit(nopython=True, parallel=True, fastmath=True)
def gesummv(alpha, beta, A, B, x):
    N = A.shape[0]
    y = np.empty(N, dtype=A.dtype)
    for i in nb.prange(N):
        tmp = 0.0
        acc = 0.0
        for j in range(N):
            tmp += A[i, j] * x[j]
            acc += B[i, j] * x[j]
        y[i] = alpha * tmp + beta * acc
    return y
