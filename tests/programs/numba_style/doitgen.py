"""Every row of a tensor times a matrix, in place; every iteration has a row of its own."""

import numpy as np

import parpy as nb


@nb.njit(parallel=True, fastmath=True)
def doitgen(NR, NQ, NP, A, C4):
    for r in nb.prange(NR):
        for q in range(NQ):
            sum = np.zeros(NP, dtype=A.dtype)
            for p in range(NP):
                for s in range(NP):
                    sum[p] += A[r, q, s] * C4[s, p]
            A[r, q, :] = sum
