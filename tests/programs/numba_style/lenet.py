"""LeNet-5, its convolutions and pools as parallel loops."""

import numpy as np

import parpy as nb


@nb.jit(nopython=True, parallel=True, fastmath=True)
def relu(x):
    return np.maximum(x, 0)


@nb.jit(nopython=True, parallel=True, fastmath=True)
def conv2d(input, weights):
    K = weights.shape[0]
    N = input.shape[0]
    H_out = input.shape[1] - K + 1
    W_out = input.shape[2] - K + 1
    C_out = weights.shape[3]
    output = np.empty((N, H_out, W_out, C_out), dtype=np.float32)
    for i in nb.prange(H_out):
        for j in nb.prange(W_out):
            for n in range(N):
                for c in range(C_out):
                    output[n, i, j, c] = np.sum(input[n, i : i + K, j : j + K, :] * weights[:, :, :, c])
    return output


@nb.jit(nopython=True, parallel=True, fastmath=True)
def maxpool2d(x):
    output = np.empty((x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]), dtype=x.dtype)
    for i in nb.prange(x.shape[1] // 2):
        for j in nb.prange(x.shape[2] // 2):
            for k in nb.prange(x.shape[0]):
                for l in nb.prange(x.shape[3]):
                    output[k, i, j, l] = np.max(x[k, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, l])
    return output


@nb.jit(nopython=True, parallel=True, fastmath=True)
def lenet(input, conv1, conv1bias, conv2, conv2bias, fc1w, fc1b, fc2w, fc2b, fc3w, fc3b, N, C_before_fc1):
    x1 = relu(conv2d(input, conv1) + conv1bias)
    x2 = maxpool2d(x1)
    x3 = relu(conv2d(x2, conv2) + conv2bias)
    x4 = maxpool2d(x3)
    x5 = np.reshape(x4, (N, C_before_fc1))
    x6 = relu(x5 @ fc1w + fc1b)
    x7 = relu(x6 @ fc2w + fc2b)
    return x7 @ fc3w + fc3b
