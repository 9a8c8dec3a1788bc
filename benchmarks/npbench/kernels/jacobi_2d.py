"""Means of five neighbours in the plane, forth and back."""

from __future__ import annotations

import parpy
from parpy import threads

from ..kernel import CORES, SIMD, Kernel, presets, share


def initialize(rng, TSTEPS, N):
    return {"A": rng.random((N, N)), "B": rng.random((N, N))}


def reference(TSTEPS, A, B):
    for _ in range(1, TSTEPS):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


@parpy.jit
def jacobi_2d(TSTEPS, A, B, N):
    for t in range(1, TSTEPS):
        parpy.label("i")
        for i in range(1, N - 1):
            parpy.label("j")
            for j in range(1, N - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        parpy.label("i")
        for i in range(1, N - 1):
            parpy.label("j")
            for j in range(1, N - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])


KERNEL = Kernel(
    name="jacobi_2d",
    function=jacobi_2d,
    reference=reference,
    initialize=initialize,
    outputs=("A", "B"),
    presets=presets("TSTEPS N", tiny=(5, 41), S=(50, 150), M=(80, 350), L=(200, 700), paper=(1000, 2800)),
    cpu={"i": CORES, "j": SIMD},
    cuda=lambda TSTEPS, N: {"i": share(N - 2, 4), "j": threads(N - 2).tpb(256)},
    bytes=lambda TSTEPS, N: 32 * N**2 * (TSTEPS - 1),
    flops=lambda TSTEPS, N: 10 * N**2 * (TSTEPS - 1),
    steps="TSTEPS",
)
