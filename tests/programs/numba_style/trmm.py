"""A triangular matrix, transposed, times another, in place."""

import numpy as np

import parpy as nb


@nb.jit(nopython=True, parallel=True, fastmath=True)
def trmm(alpha, A, B):
    for i in range(B.shape[0]):
        for j in nb.prange(B.shape[1]):
            B[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j])
    B *= alpha
