"""y = alpha A x + beta B x."""

from __future__ import annotations

import numpy as np

import parpy
from parpy import threads

from ..kernel import CORES, SIMD, Kernel, presets


def initialize(rng, N):
    A, B, x = rng.random((N, N)), rng.random((N, N)), rng.random(N)
    return {"alpha": 1.5, "beta": 1.2, "A": A, "B": B, "x": x, "y": np.zeros(N)}


def reference(alpha, beta, A, B, x, y):
    y[:] = alpha * A @ x + beta * B @ x


@parpy.jit
def gesummv(alpha, beta, A, B, x, y, N):
    parpy.label("i")
    for i in range(N):
        a = 0.0
        b = 0.0
        parpy.label("j")
        for j in range(N):
            a += A[i, j] * x[j]
            b += B[i, j] * x[j]
        y[i] = alpha * a + beta * b


KERNEL = Kernel(
    name="gesummv",
    function=gesummv,
    reference=reference,
    initialize=initialize,
    outputs=("y",),
    returns=("y",),
    presets=presets("N", tiny=(23,), S=(2000,), M=(4000,), L=(14_000,), paper=(11_200,)),
    cpu={"i": CORES, "j": SIMD},
    cuda=lambda N: {"i": threads(N), "j": threads(256)},
    bytes=lambda N: 16 * N**2,
    flops=lambda N: 4 * N**2,
)
