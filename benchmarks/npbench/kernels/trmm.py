"""B = alpha Aᵀ B, A lower triangular with a unit diagonal; from a copy of B, so that all rows are independent."""

from __future__ import annotations

import numpy as np

import parpy
from parpy import threads

from ..kernel import CORES, SIMD, Kernel, presets


def initialize(rng, M, N):
    return {"alpha": 1.5, "A": rng.random((M, M)), "B": rng.random((M, N)), "old": np.zeros((M, N))}


def reference(alpha, A, B):
    B += np.tril(A, -1).T @ B
    B *= alpha


@parpy.jit
def trmm(alpha, A, B, old, M, N):
    parpy.label("i")
    for i in range(M):
        parpy.label("j")
        for j in range(N):
            old[i, j] = B[i, j]
    parpy.label("i")
    for i in range(M):
        parpy.label("j")
        for j in range(N):
            total = old[i, j]
            for k in range(i + 1, M):
                total += A[k, i] * old[k, j]
            B[i, j] = alpha * total


@parpy.jit
def trmm_rows(alpha, A, B, M, N):
    """Works in place: row i needs later rows only, so blocks of columns are independent."""
    parpy.label("b")
    for b in range((N + 127) // 128):
        for i in range(M):
            for k in range(i + 1, M):
                parpy.label("j")
                for j in range(128 * b, min(128 * b + 128, N)):
                    B[i, j] += A[k, i] * B[k, j]
            parpy.label("j")
            for j in range(128 * b, min(128 * b + 128, N)):
                B[i, j] *= alpha


KERNEL = Kernel(
    name="trmm",
    function=trmm,
    cpu_function=trmm_rows,
    reference=reference,
    initialize=initialize,
    outputs=("B",),
    presets=presets("M N", tiny=(33, 35), S=(65, 80), M=(200, 250), L=(600, 700), paper=(1000, 1200)),
    cpu={"b": CORES, "j": SIMD},
    cuda=lambda M, N: {"i": threads(M), "j": threads(N).tpb(128)},
    bytes=lambda M, N: 8 * (M**2 / 2 + 2 * M * N),
    flops=lambda M, N: M**2 * N,
    unit="f64 tensor",
)
