"""The correlations of the columns of a table; Numba has no means along an axis."""

import numpy as np

import parpy as nb


@nb.jit(nopython=True, parallel=True, fastmath=True)
def correlation(M, float_n, data):
    mean = np.empty(M, dtype=data.dtype)
    stddev = np.empty(M, dtype=data.dtype)
    for j in nb.prange(M):
        mean[j] = np.mean(data[:, j])
        stddev[j] = np.std(data[:, j])
    stddev[stddev <= 0.1] = 1.0
    for i in nb.prange(data.shape[0]):
        data[i, :] = (data[i, :] - mean) / (np.sqrt(float_n) * stddev)
    corr = np.eye(M, dtype=data.dtype)
    for i in nb.prange(M - 1):
        corr[i, i + 1 : M] = data[:, i] @ data[:, i + 1 : M]
        corr[i + 1 : M, i] = corr[i, i + 1 : M]
    return corr
