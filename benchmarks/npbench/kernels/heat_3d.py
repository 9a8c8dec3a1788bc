"""The heat equation in three dimensions, each step two half steps."""

from __future__ import annotations

import parpy
from parpy import threads

from ..kernel import CORES, SIMD, Kernel, presets


def initialize(rng, TSTEPS, N):
    A = rng.random((N, N, N))
    return {"A": A, "B": A.copy()}


def reference(TSTEPS, A, B):
    for _ in range(1, TSTEPS):
        B[1:-1, 1:-1, 1:-1] = (
            0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[:-2, 1:-1, 1:-1])
            + 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, :-2, 1:-1])
            + 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, 1:-1, :-2])
            + A[1:-1, 1:-1, 1:-1]
        )
        A[1:-1, 1:-1, 1:-1] = (
            0.125 * (B[2:, 1:-1, 1:-1] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[:-2, 1:-1, 1:-1])
            + 0.125 * (B[1:-1, 2:, 1:-1] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[1:-1, :-2, 1:-1])
            + 0.125 * (B[1:-1, 1:-1, 2:] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[1:-1, 1:-1, :-2])
            + B[1:-1, 1:-1, 1:-1]
        )


@parpy.jit
def heat_3d(TSTEPS, A, B, N):
    for t in range(1, TSTEPS):
        parpy.label("i")
        for i in range(1, N - 1):
            parpy.label("j")
            for j in range(1, N - 1):
                parpy.label("k")
                for k in range(1, N - 1):
                    B[i, j, k] = (
                        0.125 * (A[i + 1, j, k] - 2.0 * A[i, j, k] + A[i - 1, j, k])
                        + 0.125 * (A[i, j + 1, k] - 2.0 * A[i, j, k] + A[i, j - 1, k])
                        + 0.125 * (A[i, j, k + 1] - 2.0 * A[i, j, k] + A[i, j, k - 1])
                        + A[i, j, k]
                    )
        parpy.label("i")
        for i in range(1, N - 1):
            parpy.label("j")
            for j in range(1, N - 1):
                parpy.label("k")
                for k in range(1, N - 1):
                    A[i, j, k] = (
                        0.125 * (B[i + 1, j, k] - 2.0 * B[i, j, k] + B[i - 1, j, k])
                        + 0.125 * (B[i, j + 1, k] - 2.0 * B[i, j, k] + B[i, j - 1, k])
                        + 0.125 * (B[i, j, k + 1] - 2.0 * B[i, j, k] + B[i, j, k - 1])
                        + B[i, j, k]
                    )


KERNEL = Kernel(
    name="heat_3d",
    function=heat_3d,
    reference=reference,
    initialize=initialize,
    outputs=("A", "B"),
    presets=presets("TSTEPS N", tiny=(4, 13), S=(25, 25), M=(50, 40), L=(100, 70), paper=(500, 120)),
    cpu={"i": CORES, "k": SIMD},
    cuda=lambda TSTEPS, N: {"i": threads(N - 2), "j": threads(N - 2), "k": threads(N - 2)},
    bytes=lambda TSTEPS, N: 32 * N**3 * (TSTEPS - 1),
    flops=lambda TSTEPS, N: 30 * (N - 2) ** 3 * (TSTEPS - 1),
    steps="TSTEPS",
)
