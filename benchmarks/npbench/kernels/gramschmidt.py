"""QR decomposition by modified Gram-Schmidt, one column of Q per step; A is overwritten."""

from __future__ import annotations

import numpy as np

import parpy
from parpy import threads

from ..kernel import CORES, SIMD, Kernel, presets


def initialize(rng, M, N):
    return {"A": rng.random((M, N)), "Q": np.zeros((M, N)), "R": np.zeros((N, N))}


def reference(A, Q, R, N):
    for k in range(N):
        R[k, k] = (A[:, k] @ A[:, k]) ** 0.5
        Q[:, k] = A[:, k] / R[k, k]
        R[k, k + 1 :] = Q[:, k] @ A[:, k + 1 :]
        A[:, k + 1 :] -= Q[:, k, None] * R[None, k, k + 1 :]


@parpy.jit
def gramschmidt(A, Q, R, M, N):
    """Every column computes the norm of column k itself, so that a step is one loop."""
    for k in range(N):
        parpy.label("j")
        for j in range(k, N):
            square = 0.0
            total = 0.0
            parpy.label("m")
            for i in range(M):
                square += A[i, k] * A[i, k]
                total += A[i, k] * A[i, j]
            R[k, j] = total / np.sqrt(square)
            parpy.label("m")
            for i in range(M):
                if j == k:
                    Q[i, k] = A[i, k] / np.sqrt(square)
                else:
                    A[i, j] -= A[i, k] / np.sqrt(square) * R[k, j]


@parpy.jit
def gramschmidt_rows(A, Q, R, M, N):
    for k in range(N):
        total = 0.0
        for i in range(M):
            total += A[i, k] * A[i, k]
        R[k, k] = np.sqrt(total)
        for i in range(M):
            Q[i, k] = A[i, k] / R[k, k]
            parpy.label("j")
            for j in range(k + 1, N):
                R[k, j] += Q[i, k] * A[i, j]
        parpy.label("i")
        for i in range(M):
            parpy.label("j")
            for j in range(k + 1, N):
                A[i, j] -= Q[i, k] * R[k, j]


KERNEL = Kernel(
    name="gramschmidt",
    function=gramschmidt,
    cpu_function=gramschmidt_rows,
    reference=reference,
    initialize=initialize,
    outputs=("Q", "R"),
    returns=("Q", "R"),
    presets=presets("M N", tiny=(35, 14), S=(70, 60), M=(220, 180), L=(600, 500), paper=(240, 200)),
    cpu={"i": CORES, "j": SIMD},
    cuda=lambda M, N: {"j": threads(N), "m": threads(min(128, M))},
    bytes=lambda M, N: 16 * M * N,
    flops=lambda M, N: 2 * M * N**2,
    tolerance=1e-8,  # the condition of A times rounding
)
