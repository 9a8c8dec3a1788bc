"""Levinson's and Durbin's recursion for Toeplitz systems."""

from __future__ import annotations

import numpy as np

import parpy

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, N):
    return {**texts.data("durbin", rng, n=N), "y": np.zeros(N), "z": np.zeros(N)}


@parpy.jit
def durbin(r, y, z, N):
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, N):
        beta *= 1.0 - alpha * alpha
        total = r[k]
        for i in range(k):
            total += r[k - 1 - i] * y[i]
        alpha = -total / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - 1 - i]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha


KERNEL = Kernel(
    name="durbin",
    function=durbin,
    initialize=initialize,
    outputs=("y",),
    returns=("y",),
    presets=presets("N", tiny=(23,), S=(1000,), M=(6000,), L=(20_000,), paper=(16_000,)),
    bytes=lambda N: 16 * N,
    flops=lambda N: 2 * N**2,
    tolerance=1e-8,  # rounding over all steps
)
