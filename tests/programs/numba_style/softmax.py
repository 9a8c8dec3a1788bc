"""Softmax along the last dimension of four, row by row."""

import numpy as np

import parpy as nb


@nb.jit(nopython=True, parallel=True, fastmath=True)
def softmax(x):
    N, H, S, SM = x.shape
    out = np.empty_like(x)
    for n in nb.prange(N):
        for h in nb.prange(H):
            for s in range(S):
                tmp_max = x[n, h, s, 0]
                for j in range(SM):
                    tmp_max = max(tmp_max, x[n, h, s, j])
                row = np.exp(x[n, h, s, :] - tmp_max)
                out[n, h, s, :] = row / np.sum(row)
    return out
