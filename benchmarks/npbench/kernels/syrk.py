"""The lower triangle of C = alpha A Aᵀ + beta C."""

from __future__ import annotations

import numpy as np

import parpy
from parpy import threads

from ..kernel import CORES, SIMD, Kernel, presets


def initialize(rng, M, N):
    return {"alpha": 1.5, "beta": 1.2, "A": rng.random((N, M)), "C": rng.random((N, N))}


def reference(alpha, beta, C, A):
    C[:] = np.triu(C, 1) + np.tril(beta * C + alpha * A @ A.T)


@parpy.jit
def syrk(alpha, beta, C, A, M, N):
    parpy.label("i")
    for i in range(N):
        parpy.label("j")
        for j in range(i + 1):
            total = 0.0
            parpy.label("k")
            for k in range(M):
                total += A[i, k] * A[j, k]
            C[i, j] = beta * C[i, j] + alpha * total


KERNEL = Kernel(
    name="syrk",
    function=syrk,
    reference=reference,
    initialize=initialize,
    outputs=("C",),
    presets=presets("M N", tiny=(33, 37), S=(50, 70), M=(150, 200), L=(500, 600), paper=(1000, 1200)),
    cpu={"i": CORES, "k": SIMD},
    cuda=lambda M, N: {"i": threads(N), "j": threads(N), "k": threads(32)},
    bytes=lambda M, N: 8 * (N * M + N**2),
    flops=lambda M, N: N**2 * M,
    unit="f64 tensor",
)
