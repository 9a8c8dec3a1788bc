"""Forward substitution, L x = b, by blocks of rows: first the terms of earlier blocks, then the block's triangle."""

from __future__ import annotations

import numpy as np

import parpy
from parpy import threads

from ..kernel import CORES, SIMD, Kernel, presets

ROWS = 64


def initialize(rng, N):
    L = rng.random((N, N)) / N
    L[np.diag_indices(N)] += 1.0
    return {"L": L, "x": np.zeros(N), "b": rng.random(N), "inverse": np.zeros((N, ROWS)), "rest": np.zeros(N)}


def reference(L, x, b, N):
    for i in range(N):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]


@parpy.jit
def trisolv(L, x, b, inverse, rest, N):
    """Inverts the triangles of all blocks at once, so that the dependent steps are sums."""
    parpy.label("c")
    for c in range(N):
        first = c // ROWS * ROWS
        for i in range(first, min(first + ROWS, N)):
            total = 1.0 if i == c else 0.0
            for j in range(first, i):
                total -= L[i, j] * inverse[j, c - first]
            inverse[i, c - first] = total / L[i, i]
    for block in range(0, N, ROWS):
        parpy.label("i")
        for i in range(block, min(block + ROWS, N)):
            total = 0.0
            parpy.label("j")
            for j in range(block):
                total += L[i, j] * x[j]
            rest[i] = b[i] - total
        parpy.label("i")
        for i in range(block, min(block + ROWS, N)):
            total = 0.0
            parpy.label("k")
            for j in range(block, min(block + ROWS, N)):
                total += inverse[i, j - block] * rest[j]
            x[i] = total


@parpy.jit
def trisolv_rows(L, x, b, N):
    for block in range(0, N, ROWS):
        parpy.label("i")
        for i in range(block, min(block + ROWS, N)):
            total = 0.0
            parpy.label("j")
            for j in range(block):
                total += L[i, j] * x[j]
            x[i] = b[i] - total
        for i in range(block, min(block + ROWS, N)):
            total = 0.0
            parpy.label("j")
            for j in range(block, i):
                total += L[i, j] * x[j]
            x[i] = (x[i] - total) / L[i, i]


KERNEL = Kernel(
    name="trisolv",
    function=trisolv,
    cpu_function=trisolv_rows,
    reference=reference,
    initialize=initialize,
    outputs=("x",),
    presets=presets("N", tiny=(80,), S=(2000,), M=(5000,), L=(14_000,), paper=(16_000,)),
    cpu={"i": CORES, "j": SIMD},
    cuda=lambda N: {"c": threads(N).tpb(64), "i": threads(ROWS), "j": threads(min(1024, N)), "k": threads(32)},
    bytes=lambda N: 4 * N**2,
    flops=lambda N: N**2,
)
