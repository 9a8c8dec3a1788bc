"""The covariances of the columns of a table, in explicit loops."""

import numpy as np

import parpy as nb


@nb.jit(nopython=True, parallel=True, fastmath=True)
def covariance(M, float_n, data):
    mean = np.zeros(M, dtype=data.dtype)
    for j in nb.prange(M):
        mean[j] = np.sum(data[:, j]) / float_n
    for i in nb.prange(data.shape[0]):
        data[i, :] -= mean
    cov = np.zeros((M, M), dtype=data.dtype)
    for i in nb.prange(M):
        for j in range(i, M):
            cov[i, j] = 0.0
            for k in range(data.shape[0]):
                cov[i, j] += data[k, i] * data[k, j]
            cov[i, j] /= float_n - 1.0
            cov[j, i] = cov[i, j]
    return cov
