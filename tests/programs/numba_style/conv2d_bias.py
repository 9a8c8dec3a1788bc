"""A convolution of images with many channels, and a bias, the images in parallel."""

import numpy as np

import parpy as nb


@nb.jit(nopython=True, parallel=True, fastmath=True)
def conv2d(input, weights):
    K = weights.shape[0]
    N = input.shape[0]
    H_out = input.shape[1] - K + 1
    W_out = input.shape[2] - K + 1
    C_in = input.shape[3]
    C_out = weights.shape[3]
    output = np.empty((N, H_out, W_out, C_out), dtype=np.float32)
    for i in nb.prange(H_out):
        for j in nb.prange(W_out):
            output[:, i, j, :] = 0.0
            for n in range(N):
                for ky in range(K):
                    for kx in range(K):
                        for c in range(C_in):
                            output[n, i, j, :] += input[n, i + ky, j + kx, c] * weights[ky, kx, c, :]
    return output


@nb.jit(nopython=True, parallel=True, fastmath=True)
def conv2d_bias(input, weights, bias):
    return conv2d(input, weights) + bias
