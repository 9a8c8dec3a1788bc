"""Cholesky decomposition in the lower triangle, column by column from the left."""

from __future__ import annotations

import numpy as np

import parpy
from parpy import threads

from ..kernel import CORES, SIMD, Kernel, presets


def initialize(rng, N):
    A = rng.random((N, N))
    return {"A": A @ A.T / N + np.eye(N)}


def reference(A, N):
    for j in range(N):
        A[j:, j] -= A[j:, :j] @ A[j, :j]
        A[j:, j] /= A[j, j] ** 0.5


@parpy.jit
def cholesky(A, N):
    for j in range(N):
        parpy.label("i")
        for i in range(j, N):
            total = A[i, j]
            parpy.label("k")
            for k in range(j):
                total -= A[i, k] * A[j, k]
            A[i, j] = total
        parpy.label("s")
        for i in range(j + 1, N):
            A[i, j] /= np.sqrt(A[j, j])
    parpy.label("d")
    for j in range(N):
        A[j, j] = np.sqrt(A[j, j])


KERNEL = Kernel(
    name="cholesky",
    function=cholesky,
    reference=reference,
    initialize=initialize,
    outputs=("A",),
    presets=presets("N", tiny=(19,), S=(100,), M=(300,), L=(900,), paper=(2000,)),
    cpu={"i": CORES, "k": SIMD, "s": CORES, "d": CORES},
    cuda=lambda N: {"i": threads(N), "k": threads(64), "s": threads(N).tpb(128), "d": threads(N).tpb(128)},
    bytes=lambda N: 8 * N**2,
    flops=lambda N: N**3 / 3,
    unit="f64 tensor",
)
