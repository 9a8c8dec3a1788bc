"""The two products of a biconjugate gradient step, in one pass."""

import numpy as np

import parpy as nb


@nb.njit(parallel=True)
def bicg(A, p, r):
    s = np.zeros(A.shape[1], dtype=A.dtype)
    q = np.zeros(A.shape[0], dtype=A.dtype)
    for j in nb.prange(A.shape[1]):
        for i in range(A.shape[0]):
            s[j] += r[i] * A[i, j]
    for i in nb.prange(A.shape[0]):
        for j in range(A.shape[1]):
            q[i] += A[i, j] * p[j]
    return s, q
