"""A residual block: three convolutions, each normalised over the batch."""

from __future__ import annotations

import numpy as np

import parpy

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, N, W, H, C1, C2):
    shapes = {"padded": (N, H + 2, W + 2, C2), "x": (N, H, W, C2), "out": (N, H, W, C1)}
    data = texts.data("resnet", rng, n=N, w=W, h=H, c1=C1, c2=C2)
    return {**data, **{name: np.zeros(shape, np.float32) for name, shape in shapes.items()}}


@parpy.jit
def convolution(x, weights, out, first):
    """Stores the convolution in the part of `out` that begins at [:, first, first]."""
    for n in range(x.shape[0]):
        for i in range(x.shape[1] - weights.shape[0] + 1):
            for j in range(x.shape[2] - weights.shape[1] + 1):
                for c in range(weights.shape[3]):
                    total = np.float32(0.0)
                    for a in range(weights.shape[0]):
                        for b in range(weights.shape[1]):
                            for d in range(weights.shape[2]):
                                total += x[n, i + a, j + b, d] * weights[a, b, d, c]
                    out[n, first + i, first + j, c] = total


@parpy.jit
def normalise(x):
    for i in range(x.shape[1]):
        for j in range(x.shape[2]):
            for c in range(x.shape[3]):
                total = np.float32(0.0)
                for n in range(x.shape[0]):
                    total += x[n, i, j, c]
                mean = total / np.float32(x.shape[0])
                square = np.float32(0.0)
                for n in range(x.shape[0]):
                    square += (x[n, i, j, c] - mean) * (x[n, i, j, c] - mean)
                scale = np.sqrt(np.sqrt(square / np.float32(x.shape[0])) + np.float32(1e-5))
                for n in range(x.shape[0]):
                    x[n, i, j, c] = (x[n, i, j, c] - mean) / scale


@parpy.jit
def rectify(x):
    for n in range(x.shape[0]):
        for i in range(x.shape[1]):
            for j in range(x.shape[2]):
                for c in range(x.shape[3]):
                    x[n, i, j, c] = max(x[n, i, j, c], np.float32(0.0))


@parpy.jit
def resnet(input, conv1, conv2, conv3, padded, x, out):
    convolution(input, conv1, padded, 1)
    normalise(padded)
    rectify(padded)
    convolution(padded, conv2, x, 0)
    normalise(x)
    rectify(x)
    convolution(x, conv3, out, 0)
    normalise(out)
    for n in range(out.shape[0]):
        for i in range(out.shape[1]):
            for j in range(out.shape[2]):
                for c in range(out.shape[3]):
                    out[n, i, j, c] = max(out[n, i, j, c] + input[n, i, j, c], np.float32(0.0))


KERNEL = Kernel(
    name="resnet",
    function=resnet,
    initialize=initialize,
    outputs=("out",),
    returns=("out",),
    presets=presets(
        "N W H C1 C2",
        tiny=(3, 7, 6, 8, 4),
        S=(8, 14, 14, 32, 8),
        M=(8, 28, 28, 64, 16),
        L=(8, 56, 56, 128, 32),
        paper=(8, 56, 56, 256, 64),
    ),
    bytes=lambda N, W, H, C1, C2: 16 * N * H * W * (C1 + C2),
    flops=lambda N, W, H, C1, C2: 2 * N * H * W * (2 * C1 * C2 + 9 * C2**2),
    unit="f32",
    tolerance=2e-4,  # for sums of 600 numbers, normalised three times
)
