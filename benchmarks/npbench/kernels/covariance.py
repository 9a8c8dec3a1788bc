"""Covariance matrix of the columns of `data`, which is centred in place."""

from __future__ import annotations

import numpy as np

import parpy
from parpy import threads

from ..kernel import CORES, SIMD, Kernel, presets


def initialize(rng, M, N):
    return {"float_n": np.float64(N), "data": rng.random((N, M)), "mean": np.zeros(M), "cov": np.zeros((M, M))}


def reference(data, cov, N):
    data -= data.mean(axis=0)
    cov[:] = data.T @ data / (N - 1.0)


@parpy.jit
def covariance(data, mean, cov, M, N):
    parpy.label("m")
    for j in range(M):
        total = 0.0
        parpy.label("k")
        for i in range(N):
            total += data[i, j]
        mean[j] = total / N
    parpy.label("i")
    for i in range(N):
        parpy.label("j")
        for j in range(M):
            data[i, j] -= mean[j]
    parpy.label("i")
    for i in range(M):
        parpy.label("j")
        for j in range(i, M):
            total = 0.0
            for k in range(N):
                total += data[k, i] * data[k, j]
            total /= N - 1.0
            cov[i, j] = total
            cov[j, i] = total


@parpy.jit
def covariance_rows(data, mean, cov, M, N):
    mean[:] = 0.0
    for i in range(N):
        parpy.label("j")
        for j in range(M):
            mean[j] += data[i, j]
    parpy.label("i")
    for i in range(N):
        parpy.label("j")
        for j in range(M):
            data[i, j] -= mean[j] / N
    parpy.label("i")
    for block in range((M + 31) // 32):  # of rows of cov, for which blocks of rows of data are streamed
        for i in range(32 * block, min(32 * block + 32, M)):
            parpy.label("j")
            for j in range(i, M):
                cov[i, j] = 0.0
        for first in range(0, N, 32):
            for i in range(32 * block, min(32 * block + 32, M)):
                for k in range(first, min(first + 32, N)):
                    centred = data[k, i] / (N - 1.0)
                    parpy.label("j")
                    for j in range(i, M):
                        cov[i, j] += centred * data[k, j]
    parpy.label("i")
    for i in range(M):
        parpy.label("j")
        for j in range(i):
            cov[i, j] = cov[j, i]


KERNEL = Kernel(
    name="covariance",
    function=covariance,
    cpu_function=covariance_rows,
    reference=reference,
    initialize=initialize,
    outputs=("cov",),
    returns=("cov",),
    presets=presets("M N", tiny=(33, 41), S=(500, 600), M=(1400, 1800), L=(3200, 4000), paper=(1200, 1400)),
    cpu={"i": CORES, "j": SIMD},
    cuda=lambda M, N: {"m": threads(M), "k": threads(min(256, N)), "i": threads(M), "j": threads(M).tpb(128)},
    bytes=lambda M, N: 8 * (3 * N * M + M**2),
    flops=lambda M, N: M**2 * N,
    unit="f64 tensor",
)
