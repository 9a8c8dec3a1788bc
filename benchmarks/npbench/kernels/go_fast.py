"""A matrix plus the sum of tanh over its diagonal."""

from __future__ import annotations

import numpy as np

import parpy
from parpy import threads

from ..kernel import CORES, SIMD, Kernel, presets


def initialize(rng, N):
    return {"a": rng.random((N, N)), "out": np.zeros((N, N))}


def reference(a, out):
    out[:] = a + np.tanh(a.diagonal()).sum()


@parpy.jit
def go_fast(a, out, N):
    trace = 0.0
    parpy.label("d")
    for i in range(N):
        trace += np.tanh(a[i, i])
    parpy.label("i")
    for i in range(N):
        parpy.label("j")
        for j in range(N):
            out[i, j] = a[i, j] + trace


KERNEL = Kernel(
    name="go_fast",
    function=go_fast,
    reference=reference,
    initialize=initialize,
    outputs=("out",),
    returns=("out",),
    presets=presets("N", tiny=(45,), S=(2000,), M=(6000,), L=(20_000,), paper=(12_500,)),
    cpu={"d": SIMD, "i": CORES, "j": SIMD},
    cuda=lambda N: {"d": threads(min(1024, N)), "i": threads(N), "j": threads(min(1024, N))},
    bytes=lambda N: 16 * N**2,
    flops=lambda N: N**2,
)
