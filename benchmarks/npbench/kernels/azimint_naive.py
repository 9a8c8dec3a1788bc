"""Mean of `data` in each of npt rings of equal width around the origin."""

from __future__ import annotations

import numpy as np

import parpy
from parpy import threads

from ..kernel import CORES, SIMD, Kernel, presets


def initialize(rng, N, npt):
    return {"data": rng.random(N), "radius": rng.random(N), "res": np.zeros(npt)}


def reference(data, radius, res, npt):
    rmax = radius.max()
    for i in range(npt):
        inside = (rmax * i / npt <= radius) & (radius < rmax * (i + 1) / npt)
        res[i] = data[inside].mean()


@parpy.jit
def azimint_naive(data, radius, res, N, npt):
    rmax = 0.0
    parpy.label("j")
    for j in range(N):
        rmax = max(rmax, radius[j])
    parpy.label("i")
    for i in range(npt):
        inner = rmax * i / npt
        outer = rmax * (i + 1) / npt
        total = 0.0
        count = 0
        parpy.label("k")
        for j in range(N):
            if inner <= radius[j] and radius[j] < outer:
                total += data[j]
                count += 1
        res[i] = total / count


KERNEL = Kernel(
    name="azimint_naive",
    function=azimint_naive,
    reference=reference,
    initialize=initialize,
    outputs=("res",),
    returns=("res",),
    presets=presets(
        "N npt",
        tiny=(701, 5),
        S=(400_000, 1000),
        M=(4_000_000, 1000),
        L=(40_000_000, 1000),
        paper=(1_000_000, 1000),
    ),
    cpu={"i": CORES, "j": SIMD, "k": SIMD},
    cuda=lambda N, npt: {"i": threads(npt), "j": threads(min(N, 135_168)), "k": threads(min(1024, N))},
    bytes=lambda N, npt: 24 * N,
    flops=lambda N, npt: 4 * N * npt,
)
