"""The LU decomposition without pivots, in place."""

from __future__ import annotations

import numpy as np

import parpy

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, N):
    return texts.data("lu", rng, n=N)


def reference(A, N):
    """By blocks: a panel of 64 columns, the rows beside it, then one product for the rest."""
    for k in range(0, N, 64):
        end = min(k + 64, N)
        for i in range(k, end):
            A[i + 1 :, i] /= A[i, i]
            A[i + 1 :, i + 1 : end] -= np.outer(A[i + 1 :, i], A[i, i + 1 : end])
        for i in range(k, end):
            A[i + 1 : end, end:] -= np.outer(A[i + 1 : end, i], A[i, end:])
        A[end:, end:] -= A[end:, k:end] @ A[k:end, end:]


@parpy.jit
def lu(A, N):
    for k in range(N):
        for i in range(k + 1, N):
            A[i, k] /= A[k, k]
        for i in range(k + 1, N):
            for j in range(k + 1, N):
                A[i, j] -= A[i, k] * A[k, j]


KERNEL = Kernel(
    name="lu",
    function=lu,
    reference=reference,
    initialize=initialize,
    outputs=("A",),
    presets=presets("N", tiny=(23,), S=(60,), M=(220,), L=(700,), paper=(2000,)),
    bytes=lambda N: 16 * N**2,
    flops=lambda N: 2 / 3 * N**3,
    unit="f64 tensor",
)
