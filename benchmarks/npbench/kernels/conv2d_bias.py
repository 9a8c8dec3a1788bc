"""A convolution of images with many channels, and a bias."""

from __future__ import annotations

import numpy as np

import parpy

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, N, C_in, C_out, K, H, W):
    data = texts.data("conv2d_bias", rng, n=N, ci=C_in, co=C_out, k=K, h=H, w=W)
    return {**data, "output": np.zeros((N, H - K + 1, W - K + 1, C_out), np.float32)}


def reference(input, weights, bias, output, N, K):
    windows = np.lib.stride_tricks.sliding_window_view(input, (K, K), axis=(1, 2))
    for n in range(N):
        output[n] = np.tensordot(windows[n], weights, axes=((2, 3, 4), (2, 0, 1))) + bias


@parpy.jit
def conv2d_bias(input, weights, bias, output, N, C_in, C_out, K, H, W):
    for n in range(N):
        for i in range(H - K + 1):
            for j in range(W - K + 1):
                for c in range(C_out):
                    total = np.float32(0.0)
                    for y in range(K):
                        for x in range(K):
                            for d in range(C_in):
                                total += input[n, i + y, j + x, d] * weights[y, x, d, c]
                    output[n, i, j, c] = total + bias[c]


def flops(N, C_in, C_out, K, H, W):
    return 2 * N * (H - K + 1) * (W - K + 1) * C_out * C_in * K**2


def least_bytes(N, C_in, C_out, K, H, W):
    return 4 * (N * H * W * C_in + K**2 * C_in * C_out + N * (H - K + 1) * (W - K + 1) * C_out)


KERNEL = Kernel(
    name="conv2d_bias",
    function=conv2d_bias,
    reference=reference,
    initialize=initialize,
    outputs=("output",),
    returns=("output",),
    presets=presets(
        "N C_in C_out K H W",
        tiny=(2, 3, 4, 2, 9, 8),
        S=(8, 3, 16, 2, 32, 32),
        M=(8, 3, 8, 5, 64, 64),
        L=(8, 3, 8, 10, 128, 128),
        paper=(8, 3, 16, 20, 256, 256),
    ),
    bytes=least_bytes,
    flops=flops,
    unit="f32",
    tolerance=1e-4,  # for sums of 1200 numbers of one sign
)
