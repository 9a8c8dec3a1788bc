"""C = alpha A B + beta C with a symmetric A, of which the lower triangle is stored."""

from __future__ import annotations

import numpy as np

import parpy
from parpy import threads

from ..kernel import CORES, SIMD, Kernel, presets


def initialize(rng, M, N):
    A, B, C = rng.random((M, M)), rng.random((M, N)), rng.random((M, N))
    A[np.triu_indices(M, 1)] = np.nan
    return {"alpha": 1.5, "beta": 1.2, "A": A, "B": B, "C": C}


def reference(alpha, beta, C, A, B):
    lower = np.tril(A)
    C[:] = beta * C + alpha * (lower + np.tril(A, -1).T) @ B


@parpy.jit
def symm(alpha, beta, C, A, B, M, N):
    parpy.label("i")
    for i in range(M):
        parpy.label("j")
        for j in range(N):
            total = 0.0
            for k in range(i + 1):
                total += A[i, k] * B[k, j]
            for k in range(i + 1, M):
                total += A[k, i] * B[k, j]
            C[i, j] = beta * C[i, j] + alpha * total


@parpy.jit
def symm_rows(alpha, beta, C, A, B, M, N):
    parpy.label("i")
    for i in range(M):
        parpy.label("j")
        for j in range(N):
            C[i, j] *= beta
        for k in range(i + 1):
            parpy.label("j")
            for j in range(N):
                C[i, j] += alpha * A[i, k] * B[k, j]
        for k in range(i + 1, M):
            parpy.label("j")
            for j in range(N):
                C[i, j] += alpha * A[k, i] * B[k, j]


KERNEL = Kernel(
    name="symm",
    function=symm,
    cpu_function=symm_rows,
    reference=reference,
    initialize=initialize,
    outputs=("C",),
    presets=presets("M N", tiny=(33, 35), S=(40, 50), M=(120, 150), L=(350, 550), paper=(1000, 1200)),
    cpu={"i": CORES, "j": SIMD},
    cuda=lambda M, N: {"i": threads(M), "j": threads(N).tpb(128)},
    bytes=lambda M, N: 8 * (M**2 / 2 + 3 * M * N),
    flops=lambda M, N: 2 * M**2 * N,
    unit="f64 tensor",
)
