"""A += u1 v1ᵀ + u2 v2ᵀ; x += beta Aᵀ y + z; w += alpha A x."""

from __future__ import annotations

import numpy as np

import parpy
from parpy import threads

from ..kernel import CORES, SIMD, Kernel, presets

ROWS = 64


def initialize(rng, N):
    vectors = {name: rng.random(N) for name in ("u1", "v1", "u2", "v2", "w", "x", "y", "z")}
    return {"alpha": 1.5, "beta": 1.2, "A": rng.random((N, N)), "part": np.zeros((-(-N // ROWS), N)), **vectors}


def reference(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ A + z
    w += alpha * A @ x


@parpy.jit
def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z, part, N):
    """The columns' sums are taken over blocks of rows, then over the blocks."""
    parpy.label("b")
    for b in range((N + ROWS - 1) // ROWS):
        parpy.label("j")
        for j in range(N):
            total = 0.0
            for i in range(b * ROWS, min((b + 1) * ROWS, N)):
                A[i, j] += u1[i] * v1[j] + u2[i] * v2[j]
                total += A[i, j] * y[i]
            part[b, j] = total
    parpy.label("c")
    for j in range(N):
        total = 0.0
        for b in range((N + ROWS - 1) // ROWS):
            total += part[b, j]
        x[j] += beta * total + z[j]
    parpy.label("i")
    for i in range(N):
        total = 0.0
        parpy.label("k")
        for j in range(N):
            total += A[i, j] * x[j]
        w[i] += alpha * total


@parpy.jit
def gemver_rows(alpha, beta, A, u1, v1, u2, v2, w, x, y, z, part, N):
    parpy.label("b")
    for b in range((N + ROWS - 1) // ROWS):
        parpy.label("j")
        for j in range(N):
            part[b, j] = 0.0
        for i in range(b * ROWS, min((b + 1) * ROWS, N)):
            parpy.label("j")
            for j in range(N):
                A[i, j] += u1[i] * v1[j] + u2[i] * v2[j]
                part[b, j] += A[i, j] * y[i]
    for b in range((N + ROWS - 1) // ROWS):
        parpy.label("c")
        for j in range(N):
            x[j] += beta * part[b, j]
    parpy.label("c")
    for j in range(N):
        x[j] += z[j]
    parpy.label("i")
    for i in range(N):
        total = 0.0
        parpy.label("k")
        for j in range(N):
            total += A[i, j] * x[j]
        w[i] += alpha * total


KERNEL = Kernel(
    name="gemver",
    function=gemver,
    cpu_function=gemver_rows,
    reference=reference,
    initialize=initialize,
    outputs=("A", "w", "x"),
    presets=presets("N", tiny=(70,), S=(1000,), M=(3000,), L=(10_000,), paper=(8000,)),
    cpu={"b": CORES, "j": SIMD, "c": SIMD, "i": CORES, "k": SIMD},
    cuda=lambda N: {
        "b": threads(-(-N // ROWS)),
        "j": threads(N).tpb(256),
        "c": threads(N).tpb(64),
        "i": threads(N),
        "k": threads(256),
    },
    bytes=lambda N: 24 * N**2,
    flops=lambda N: 8 * N**2,
)
