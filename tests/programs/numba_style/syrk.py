"""A symmetric update of rank k, of the lower triangle, in explicit loops."""

import parpy as nb


@nb.njit(parallel=True, fastmath=True)
def syrk(alpha, beta, C, A):
    for i in nb.prange(A.shape[0]):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(A.shape[1]):
            for j in range(i + 1):
                C[i, j] += alpha * A[i, k] * A[j, k]
