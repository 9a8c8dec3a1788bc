"""The LU decomposition without pivots, in place."""

from __future__ import annotations

import parpy

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, N):
    return texts.data("lu", rng, n=N)


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
    initialize=initialize,
    outputs=("A",),
    presets=presets("N", tiny=(23,), S=(60,), M=(220,), L=(700,), paper=(2000,)),
    bytes=lambda N: 16 * N**2,
    flops=lambda N: 2 / 3 * N**3,
    unit="f64 tensor",
)
