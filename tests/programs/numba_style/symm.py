"""A symmetric matrix, of which the lower triangle is stored, times another."""

import parpy as nb


@nb.jit(nopython=True, parallel=True, fastmath=True)
def symm(alpha, beta, C, A, B):
    C *= beta
    for i in range(C.shape[0]):
        for j in nb.prange(C.shape[1]):
            C[:i, j] += alpha * B[i, j] * A[i, :i]
            temp2 = B[:i, j] @ A[i, :i]
            C[i, j] += alpha * B[i, j] * A[i, i] + alpha * temp2
