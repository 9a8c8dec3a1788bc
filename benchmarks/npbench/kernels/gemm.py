"""C = alpha A B + beta C."""

from __future__ import annotations

import parpy
from parpy import threads

from ..kernel import CORES, SIMD, Kernel, presets


def initialize(rng, NI, NJ, NK):
    A, B, C = rng.random((NI, NK)), rng.random((NK, NJ)), rng.random((NI, NJ))
    return {"alpha": 1.5, "beta": 1.2, "A": A, "B": B, "C": C}


def reference(alpha, beta, C, A, B):
    C[:] = alpha * A @ B + beta * C


@parpy.jit
def gemm(alpha, beta, C, A, B, NI, NJ, NK):
    parpy.label("i")
    for i in range(NI):
        parpy.label("j")
        for j in range(NJ):
            total = 0.0
            for k in range(NK):
                total += A[i, k] * B[k, j]
            C[i, j] = beta * C[i, j] + alpha * total


@parpy.jit
def gemm_rows(alpha, beta, C, A, B, NI, NJ, NK):
    """Blocks of 32 rows of C read blocks of 32 rows of B."""
    parpy.label("i")
    for block in range((NI + 31) // 32):
        for i in range(32 * block, min(32 * block + 32, NI)):
            parpy.label("j")
            for j in range(NJ):
                C[i, j] *= beta
        for first in range(0, NK, 32):
            for i in range(32 * block, min(32 * block + 32, NI)):
                for k in range(first, min(first + 32, NK)):
                    a = alpha * A[i, k]
                    parpy.label("j")
                    for j in range(NJ):
                        C[i, j] += a * B[k, j]


KERNEL = Kernel(
    name="gemm",
    function=gemm,
    cpu_function=gemm_rows,
    reference=reference,
    initialize=initialize,
    outputs=("C",),
    presets=presets(
        "NI NJ NK",
        tiny=(37, 41, 43),
        S=(1000, 1100, 1200),
        M=(2500, 2750, 3000),
        L=(7000, 7500, 8000),
        paper=(2000, 2300, 2600),
    ),
    cpu={"i": CORES, "j": SIMD},
    cuda=lambda NI, NJ, NK: {"i": threads(NI), "j": threads(NJ).tpb(128)},
    bytes=lambda NI, NJ, NK: 8 * (NI * NK + NK * NJ + 2 * NI * NJ),
    flops=lambda NI, NJ, NK: 2 * NI * NJ * NK,
    unit="f64 tensor",
)
