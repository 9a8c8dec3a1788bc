"""The product of a matrix, transposed, with itself and a vector."""

from __future__ import annotations

import numpy as np

import parpy

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, M, N):
    return {**texts.data("atax", rng, m=M, n=N), "product": np.zeros(M), "y": np.zeros(N)}


@parpy.jit
def atax(A, x, product, y, M, N):
    for i in range(M):
        total = 0.0
        for j in range(N):
            total += A[i, j] * x[j]
        product[i] = total
    for j in range(N):
        total = 0.0
        for i in range(M):
            total += product[i] * A[i, j]
        y[j] = total


KERNEL = Kernel(
    name="atax",
    function=atax,
    initialize=initialize,
    outputs=("y",),
    returns=("y",),
    presets=presets(
        "M N", tiny=(17, 19), S=(4000, 5000), M=(10_000, 12_500), L=(20_000, 25_000), paper=(18_000, 22_000)
    ),
    bytes=lambda M, N: 16 * M * N,
    flops=lambda M, N: 4 * M * N,
)
