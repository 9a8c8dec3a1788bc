"""The correlations of the columns of a table."""

from __future__ import annotations

import numpy as np

import parpy

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, M, N):
    scratch = {"mean": np.zeros(M), "deviation": np.zeros(M), "corr": np.zeros((M, M))}
    return {**texts.data("correlation", rng, m=M, n=N), **scratch}


@parpy.jit
def correlation(data, mean, deviation, corr, M, N):
    for j in range(M):
        total = 0.0
        for i in range(N):
            total += data[i, j]
        mean[j] = total / N
    for j in range(M):
        total = 0.0
        for i in range(N):
            total += (data[i, j] - mean[j]) * (data[i, j] - mean[j])
        deviation[j] = np.sqrt(total / N)
        if deviation[j] <= 0.1:
            deviation[j] = 1.0
    for i in range(N):
        for j in range(M):
            data[i, j] = (data[i, j] - mean[j]) / (np.sqrt(float(N)) * deviation[j])
    for i in range(M):
        corr[i, i] = 1.0
        for j in range(i + 1, M):
            total = 0.0
            for k in range(N):
                total += data[k, i] * data[k, j]
            corr[i, j] = total
            corr[j, i] = total


KERNEL = Kernel(
    name="correlation",
    function=correlation,
    initialize=initialize,
    outputs=("corr",),
    returns=("corr",),
    presets=presets("M N", tiny=(37, 41), S=(500, 600), M=(1400, 1800), L=(3200, 4000), paper=(1200, 1400)),
    bytes=lambda M, N: 8 * (4 * N * M + M**2),
    flops=lambda M, N: M**2 * N,
    unit="f64 tensor",
)
