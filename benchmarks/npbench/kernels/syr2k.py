"""The lower triangle of C = alpha (A Bᵀ + B Aᵀ) + beta C."""

from __future__ import annotations

import numpy as np

import parpy
from parpy import threads

from ..kernel import CORES, SIMD, Kernel, presets


def initialize(rng, M, N):
    return {"alpha": 1.5, "beta": 1.2, "A": rng.random((N, M)), "B": rng.random((N, M)), "C": rng.random((N, N))}


def reference(alpha, beta, C, A, B):
    product = A @ B.T
    C[:] = np.triu(C, 1) + np.tril(beta * C + alpha * (product + product.T))


@parpy.jit
def syr2k(alpha, beta, C, A, B, M, N):
    parpy.label("i")
    for i in range(N):
        parpy.label("j")
        for j in range(i + 1):
            total = 0.0
            parpy.label("k")
            for k in range(M):
                total += A[i, k] * B[j, k] + B[i, k] * A[j, k]
            C[i, j] = beta * C[i, j] + alpha * total


KERNEL = Kernel(
    name="syr2k",
    function=syr2k,
    reference=reference,
    initialize=initialize,
    outputs=("C",),
    presets=presets("M N", tiny=(33, 37), S=(35, 50), M=(110, 140), L=(350, 400), paper=(1000, 1200)),
    cpu={"i": CORES, "k": SIMD},
    cuda=lambda M, N: {"i": threads(N), "j": threads(N), "k": threads(32)},
    bytes=lambda M, N: 8 * (2 * N * M + N**2),
    flops=lambda M, N: 2 * N**2 * M,
    unit="f64 tensor",
)
