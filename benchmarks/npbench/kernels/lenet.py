"""LeNet-5: two convolutions with pooling, three dense layers."""

from __future__ import annotations

import numpy as np

import parpy

from .. import texts
from ..kernel import Kernel, presets


def halves(H, W):
    """Height and width after the first and the second pool."""
    h1, w1 = (H - 4) // 2, (W - 4) // 2
    return h1, w1, (h1 - 4) // 2, (w1 - 4) // 2


def initialize(rng, N, H, W):
    h1, w1, h2, w2 = halves(H, W)
    shapes = {
        "x1": (N, H - 4, W - 4, 6),
        "x2": (N, h1, w1, 6),
        "x3": (N, h1 - 4, w1 - 4, 16),
        "x4": (N, h2, w2, 16),
        "x5": (N, 16 * h2 * w2),
        "x6": (N, 120),
        "x7": (N, 84),
        "out": (N, 10),
    }
    data = texts.data("lenet", rng, n=N, h=H, w=W, c1=6, c2=16, f1=120, f2=84)
    return {**data, **{name: np.zeros(shape, np.float32) for name, shape in shapes.items()}}


@parpy.jit
def convolution(x, weights, bias, out):
    """A convolution with a bias; negative results become 0."""
    for n in range(out.shape[0]):
        for i in range(out.shape[1]):
            for j in range(out.shape[2]):
                for c in range(out.shape[3]):
                    total = np.float32(0.0)
                    for a in range(weights.shape[0]):
                        for b in range(weights.shape[1]):
                            for d in range(weights.shape[2]):
                                total += x[n, i + a, j + b, d] * weights[a, b, d, c]
                    out[n, i, j, c] = max(total + bias[c], np.float32(0.0))


@parpy.jit
def pool(x, out):
    for n in range(out.shape[0]):
        for i in range(out.shape[1]):
            for j in range(out.shape[2]):
                for c in range(out.shape[3]):
                    upper = max(x[n, 2 * i, 2 * j, c], x[n, 2 * i, 2 * j + 1, c])
                    lower = max(x[n, 2 * i + 1, 2 * j, c], x[n, 2 * i + 1, 2 * j + 1, c])
                    out[n, i, j, c] = max(upper, lower)


@parpy.jit
def layer(x, weights, bias, least, out):
    for n in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = np.float32(0.0)
            for k in range(x.shape[1]):
                total += x[n, k] * weights[k, j]
            out[n, j] = max(total + bias[j], least)


@parpy.jit
def lenet(
    input, conv1, conv1bias, conv2, conv2bias, fc1w, fc1b, fc2w, fc2b, fc3w, fc3b, x1, x2, x3, x4, x5, x6, x7, out
):
    convolution(input, conv1, conv1bias, x1)
    pool(x1, x2)
    convolution(x2, conv2, conv2bias, x3)
    pool(x3, x4)
    for n in range(x4.shape[0]):
        for i in range(x4.shape[1]):
            for j in range(x4.shape[2]):
                for c in range(x4.shape[3]):
                    x5[n, (i * x4.shape[2] + j) * x4.shape[3] + c] = x4[n, i, j, c]
    layer(x5, fc1w, fc1b, np.float32(0.0), x6)
    layer(x6, fc2w, fc2b, np.float32(0.0), x7)
    layer(x7, fc3w, fc3b, np.float32(-np.inf), out)


def least_bytes(N, H, W):
    h1, w1, h2, w2 = halves(H, W)
    return 4 * (N * (H * W + 12 * h1 * w1 + 32 * h2 * w2) + 1920 * h2 * w2)


def flops(N, H, W):
    h1, w1, h2, w2 = halves(H, W)
    convolutions = 150 * (H - 4) * (W - 4) + 2400 * (h1 - 4) * (w1 - 4)
    return 2 * N * (convolutions + 1920 * h2 * w2 + 120 * 84 + 84 * 10)


KERNEL = Kernel(
    name="lenet",
    function=lenet,
    initialize=initialize,
    outputs=("out",),
    returns=("out",),
    presets=presets("N H W", tiny=(2, 16, 17), S=(4, 28, 28), M=(8, 56, 56), L=(8, 176, 176), paper=(16, 256, 256)),
    bytes=least_bytes,
    flops=flops,
    unit="f32",
    tolerance=2e-4,  # for sums of 50 000 numbers
)
