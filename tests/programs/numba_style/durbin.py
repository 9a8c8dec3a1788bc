"""Levinson's and Durbin's recursion for Toeplitz systems."""

import numpy as np

import parpy as nb


@nb.njit(fastmath=True)
def durbin(r):
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.sum(np.flip(r[:k]) * y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y
