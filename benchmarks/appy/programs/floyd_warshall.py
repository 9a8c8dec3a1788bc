"""Shortest paths between all pairs."""

import numpy as np

import parpy.appy as appy


@appy.jit
def loops(path, N):
    for k in range(N):
        #pragma parallel for
        for i in range(N):
            if i != k:  # row k is what the other rows read
                there = path[i, k]
                #pragma simd
                for j in range(N):
                    path[i, j] = min(path[i, j], there + path[k, j])


@appy.jit(auto_simd=True)
def tensors(path, N):
    for k in range(N):
        #pragma parallel for
        for i in range(N):
            if i != k:
                there = path[i, k]
                path[i, :N] = np.minimum(path[i, :N], there + path[k, :N])
