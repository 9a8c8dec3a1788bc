"""The shortest paths between all nodes of a graph; Numba has no ufunc.outer."""

import numpy as np

import parpy as nb


@nb.jit(nopython=True, parallel=True, fastmath=True)
def floyd_warshall(path):
    for k in range(path.shape[0]):
        for i in nb.prange(path.shape[0]):
            path[i, :] = np.minimum(path[i, :], path[i, k] + path[k, :])
