"""A perceptron of three layers; Numba has no extrema along an axis."""

import numpy as np

import parpy as nb


@nb.jit(nopython=True, parallel=True, fastmath=True)
def relu(x):
    return np.maximum(x, 0)


@nb.jit(nopython=True, parallel=True, fastmath=True)
def softmax(x):
    tmp_out = np.empty_like(x)
    for i in nb.prange(x.shape[0]):
        row = np.exp(x[i] - np.max(x[i]))
        tmp_out[i] = row / np.sum(row)
    return tmp_out


@nb.jit(nopython=True, parallel=True, fastmath=True)
def mlp(input, w1, b1, w2, b2, w3, b3):
    x1 = relu(input @ w1 + b1)
    x2 = relu(x1 @ w2 + b2)
    x3 = softmax(x2 @ w3 + b3)
    return x3
