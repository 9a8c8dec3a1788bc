"""An elementwise expression of integers, in explicit loops."""

import numpy as np

import parpy as nb


@nb.jit(nopython=True, parallel=True, fastmath=True)
def compute(array_1, array_2, a, b, c):
    result = np.empty(array_1.shape, dtype=array_1.dtype)
    for i in nb.prange(array_1.shape[0]):
        for j in range(array_1.shape[1]):
            result[i, j] = min(max(array_1[i, j], 2), 10) * a + array_2[i, j] * b + c
    return result
