"""An LU decomposition and the solution of a system with it."""

from __future__ import annotations

import numpy as np

import parpy

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, N):
    return {**texts.data("ludcmp", rng, n=N), "x": np.zeros(N), "y": np.zeros(N)}


@parpy.jit
def ludcmp(A, b, x, y, N):
    for k in range(N):
        for i in range(k + 1, N):
            A[i, k] /= A[k, k]
        for i in range(k + 1, N):
            for j in range(k + 1, N):
                A[i, j] -= A[i, k] * A[k, j]
    for i in range(N):
        y[i] = b[i]
    for k in range(N):
        for i in range(k + 1, N):
            y[i] -= A[i, k] * y[k]
    for i in range(N):
        x[i] = y[i]
    for k in range(N - 1, -1, -1):
        x[k] /= A[k, k]
        for i in range(k):
            x[i] -= A[i, k] * x[k]


KERNEL = Kernel(
    name="ludcmp",
    function=ludcmp,
    initialize=initialize,
    outputs=("x", "y", "A"),
    returns=("x", "y"),
    presets=presets("N", tiny=(23,), S=(60,), M=(220,), L=(650,), paper=(2000,)),
    bytes=lambda N: 16 * N**2,
    flops=lambda N: 2 / 3 * N**3 + 2 * N**2,
    unit="f64 tensor",
)
