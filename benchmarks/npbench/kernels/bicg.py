"""The two products of a biconjugate gradient step."""

from __future__ import annotations

import numpy as np

import parpy

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, M, N):
    return {**texts.data("bicg", rng, n=N, m=M), "s": np.zeros(M), "q": np.zeros(N)}


@parpy.jit
def bicg(A, p, r, s, q, M, N):
    for j in range(M):
        total = 0.0
        for i in range(N):
            total += r[i] * A[i, j]
        s[j] = total
    for i in range(N):
        total = 0.0
        for j in range(M):
            total += A[i, j] * p[j]
        q[i] = total


KERNEL = Kernel(
    name="bicg",
    function=bicg,
    initialize=initialize,
    outputs=("s", "q"),
    returns=("s", "q"),
    presets=presets(
        "M N", tiny=(17, 19), S=(4000, 5000), M=(10_000, 12_500), L=(20_000, 25_000), paper=(18_000, 22_000)
    ),
    bytes=lambda M, N: 8 * M * N,
    flops=lambda M, N: 4 * M * N,
)
