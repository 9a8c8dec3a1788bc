"""Covariances of the columns of `data`, which is centred in place."""

import numpy as np

import parpy.appy as appy


@appy.jit
def loops(data, mean, cov, M, N):
    #pragma parallel for
    for j in range(M):
        total = 0.0
        #pragma simd
        for i in range(N):
            total += data[i, j]
        mean[j] = total / N
    #pragma parallel for
    for i in range(N):
        #pragma simd
        for j in range(M):
            data[i, j] -= mean[j]
    #pragma parallel for
    for i in range(M):
        for j in range(i, M):
            total = 0.0
            #pragma simd
            for k in range(N):
                total += data[k, i] * data[k, j]
            cov[i, j] = total / (N - 1.0)
            cov[j, i] = cov[i, j]


@appy.jit(auto_simd=True)
def tensors(data, mean, cov, M, N):
    #pragma :M=>parallel
    mean[:M] = np.mean(data[:N, :M], axis=0)
    #pragma :N=>parallel :M=>simd
    data[:N, :M] -= mean[None, :M]
    #pragma parallel for
    for i in range(M):
        for j in range(i, M):
            cov[i, j] = sum(data[:N, i] * data[:N, j]) / (N - 1.0)
            cov[j, i] = cov[i, j]
