"""Means of three neighbours, forth and back."""

from __future__ import annotations

import parpy
from parpy import threads

from ..kernel import CORES, Kernel, presets


def initialize(rng, TSTEPS, N):
    return {"A": rng.random(N), "B": rng.random(N)}


def reference(TSTEPS, A, B):
    for _ in range(1, TSTEPS):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


@parpy.jit
def jacobi_1d(TSTEPS, A, B, N):
    for t in range(1, TSTEPS):
        parpy.label("i")
        for i in range(1, N - 1):
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])
        parpy.label("i")
        for i in range(1, N - 1):
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1])


KERNEL = Kernel(
    name="jacobi_1d",
    function=jacobi_1d,
    reference=reference,
    initialize=initialize,
    outputs=("A", "B"),
    presets=presets("TSTEPS N", tiny=(6, 100), S=(800, 3200), M=(3000, 12_000), L=(8500, 34_000), paper=(4000, 32_000)),
    cpu={"i": CORES},
    cuda=lambda TSTEPS, N: {"i": threads(N - 2).tpb(256)},
    bytes=lambda TSTEPS, N: 32 * N * (TSTEPS - 1),
    flops=lambda TSTEPS, N: 6 * N * (TSTEPS - 1),
    steps="TSTEPS",
)
