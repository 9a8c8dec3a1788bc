"""A matrix times a vector, and transposed times another, in explicit loops."""

import parpy as nb


@nb.njit(parallel=True, fastmath=True)
def mvt(x1, x2, y_1, y_2, A):
    n = A.shape[0]
    for i in nb.prange(n):
        for j in range(n):
            x1[i] += A[i, j] * y_1[j]
    for i in nb.prange(n):
        for j in range(n):
            x2[i] += A[j, i] * y_2[j]
