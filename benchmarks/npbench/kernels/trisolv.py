"""Forward substitution, L x = b, by blocks of rows: first what earlier blocks give, then the block's own triangle."""

from __future__ import annotations

import numpy as np

import parpy
from parpy import threads

from ..kernel import CORES, SIMD, Kernel, presets

ROWS = 64


def initialize(rng, N):
    L = rng.random((N, N)) / N
    L[np.diag_indices(N)] += 1.0
    return {"L": L, "x": np.zeros(N), "b": rng.random(N)}


def reference(L, x, b, N):
    for i in range(N):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]


@parpy.jit
def trisolv(L, x, b, N):
    for block in range(0, N, ROWS):
        parpy.label("i")
        for i in range(block, min(block + ROWS, N)):
            total = 0.0
            parpy.label("j")
            for j in range(block):
                total += L[i, j] * x[j]
            x[i] = b[i] - total
        with parpy.gpu:
            for i in range(block, min(block + ROWS, N)):
                total = 0.0
                parpy.label("k")
                for j in range(block, i):
                    total += L[i, j] * x[j]
                x[i] = (x[i] - total) / L[i, i]


KERNEL = Kernel(
    function=trisolv,
    reference=reference,
    initialize=initialize,
    outputs=("x",),
    presets=presets("N", tiny=(80,), S=(2000,), M=(5000,), L=(14_000,), paper=(16_000,)),
    cpu={"i": CORES, "j": SIMD, "k": SIMD},
    cuda=lambda N: {"i": threads(ROWS), "j": threads(min(1024, N)), "k": threads(32)},
    bytes=lambda N: 4 * N**2,
    flops=lambda N: N**2,
)
