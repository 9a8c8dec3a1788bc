"""A perceptron of three layers."""

from __future__ import annotations

import numpy as np

import parpy

from .. import texts
from ..kernel import Kernel, presets
from .lenet import layer


def initialize(rng, C_in, N, S0, S1, S2):
    sizes = {"h1": S0, "h2": S1, "out": S2}
    data = texts.data("mlp", rng, c=C_in, n=N, s0=S0, s1=S1, s2=S2)
    return {**data, **{name: np.zeros((N, size), np.float32) for name, size in sizes.items()}}


@parpy.jit
def mlp(input, w1, b1, w2, b2, w3, b3, h1, h2, out):
    layer(input, w1, b1, np.float32(0.0), h1)
    layer(h1, w2, b2, np.float32(0.0), h2)
    layer(h2, w3, b3, np.float32(-np.inf), out)
    for n in range(out.shape[0]):
        top = out[n, 0]
        for j in range(out.shape[1]):
            top = max(top, out[n, j])
        total = np.float32(0.0)
        for j in range(out.shape[1]):
            out[n, j] = np.exp(out[n, j] - top)
            total += out[n, j]
        for j in range(out.shape[1]):
            out[n, j] /= total


KERNEL = Kernel(
    name="mlp",
    function=mlp,
    initialize=initialize,
    outputs=("out",),
    returns=("out",),
    presets=presets(
        "C_in N S0 S1 S2",
        tiny=(3, 4, 30, 20, 10),
        S=(3, 8, 30_000, 2000, 2000),
        M=(3, 8, 30_000, 10_000, 10_000),
        L=(3, 8, 30_000, 30_000, 30_000),
        paper=(3, 8, 30_000, 10_000, 1000),
    ),
    bytes=lambda C_in, N, S0, S1, S2: 4 * (C_in * S0 + S0 * S1 + S1 * S2 + N * (2 * S0 + 2 * S1 + S2)),
    flops=lambda C_in, N, S0, S1, S2: 2 * N * (C_in * S0 + S0 * S1 + S1 * S2),
    unit="f32",
    tolerance=1e-3,  # for sums of 30 000 numbers, whose errors the exponentials increase
)
