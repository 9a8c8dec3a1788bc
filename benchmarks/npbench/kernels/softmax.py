"""Softmax of the rows of a tensor with four dimensions."""

from __future__ import annotations

import numpy as np

import parpy
from parpy import threads

from ..kernel import CORES, SIMD, Kernel, presets


def initialize(rng, N, H, SM):
    x = rng.standard_normal((N, H, SM, SM), np.float32)
    return {"x": x, "out": np.zeros_like(x)}


def reference(x, out):
    out[:] = np.exp(x - x.max(axis=-1, keepdims=True))
    out /= out.sum(axis=-1, keepdims=True)


@parpy.jit
def softmax(x, out, N, H, SM):
    parpy.label("n")
    for n in range(N):
        parpy.label("h")
        for h in range(H):
            parpy.label("i")
            for i in range(SM):
                top = x[n, h, i, 0]
                parpy.label("j")
                for j in range(SM):
                    top = max(top, x[n, h, i, j])
                total = np.float32(0.0)
                parpy.label("j")
                for j in range(SM):
                    out[n, h, i, j] = np.exp(x[n, h, i, j] - top)
                    total += out[n, h, i, j]
                parpy.label("j")
                for j in range(SM):
                    out[n, h, i, j] /= total


KERNEL = Kernel(
    name="softmax",
    function=softmax,
    reference=reference,
    initialize=initialize,
    outputs=("out",),
    returns=("out",),
    presets=presets("N H SM", tiny=(2, 3, 37), S=(16, 16, 128), M=(32, 8, 256), L=(64, 16, 448), paper=(64, 16, 512)),
    cpu={"n": CORES, "j": SIMD},
    cuda=lambda N, H, SM: {"n": threads(N), "h": threads(H), "i": threads(SM), "j": threads(32)},
    bytes=lambda N, H, SM: 8 * N * H * SM**2,
    flops=lambda N, H, SM: 8 * N * H * SM**2,
    unit="f32",
)
