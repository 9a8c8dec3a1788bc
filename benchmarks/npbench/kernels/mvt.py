"""A matrix times a vector, and transposed times another."""

from __future__ import annotations

import parpy

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, N):
    return texts.data("mvt", rng, n=N)


@parpy.jit
def mvt(x1, x2, y_1, y_2, A, N):
    for i in range(N):
        total = 0.0
        for j in range(N):
            total += A[i, j] * y_1[j]
        x1[i] += total
    for j in range(N):
        total = 0.0
        for i in range(N):
            total += y_2[i] * A[i, j]
        x2[j] += total


KERNEL = Kernel(
    name="mvt",
    function=mvt,
    initialize=initialize,
    outputs=("x1", "x2"),
    presets=presets("N", tiny=(37,), S=(5500,), M=(11_000,), L=(22_000,), paper=(16_000,)),
    bytes=lambda N: 8 * N**2,
    flops=lambda N: 4 * N**2,
)
