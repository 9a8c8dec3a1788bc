"""Lengths of the shortest paths between all pairs of vertices."""

from __future__ import annotations

import numpy as np

import parpy
from parpy import threads

from ..kernel import CORES, SIMD, Kernel, presets, share


def initialize(rng, N):
    path = rng.integers(1, 1000, (N, N), np.int32)
    np.fill_diagonal(path, 0)
    return {"path": path}


def reference(path, N):
    for k in range(N):
        for i in range(0, N, 64):  # rows that a cache holds, with their sums
            rows = path[i : i + 64]
            np.minimum(rows, rows[:, k, None] + path[None, k, :], out=rows)


@parpy.jit
def floyd_warshall(path, N):
    for k in range(N):
        parpy.label("i")
        for i in range(N):
            if i != k:  # row k stays as it is, and is what the other rows read
                there = path[i, k]
                parpy.label("j")
                for j in range(N):
                    path[i, j] = min(path[i, j], there + path[k, j])


KERNEL = Kernel(
    name="floyd_warshall",
    function=floyd_warshall,
    reference=reference,
    initialize=initialize,
    outputs=("path",),
    presets=presets("N", tiny=(45,), S=(200,), M=(400,), L=(850,), paper=(2800,)),
    cpu={"i": CORES, "j": SIMD},
    cuda=lambda N: {"i": threads(N), "j": share(N, 4)},
    bytes=lambda N: 8 * N**3,
    flops=lambda N: 2 * N**3,
    unit="int32",
)
