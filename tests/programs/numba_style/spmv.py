"""A sparse matrix times a vector, the rows in parallel."""

import numpy as np

import parpy as nb


@nb.jit(nopython=True, parallel=True, fastmath=True)
def spmv(A_row, A_col, A_val, x):
    y = np.empty(A_row.size - 1, A_val.dtype)
    for i in nb.prange(A_row.size - 1):
        acc = 0.0
        for k in range(A_row[i], A_row[i + 1]):
            acc += A_val[k] * x[A_col[k]]
        y[i] = acc
    return y
