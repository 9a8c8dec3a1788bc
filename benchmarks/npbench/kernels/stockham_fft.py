"""Stockham's Fourier transform of any radix: every pass sorts itself."""

from __future__ import annotations

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, R, K):
    return texts.data("stockham_fft", rng, r=R, k=K)


KERNEL = Kernel(
    name="stockham_fft",
    function=texts.numba_style("stockham_fft"),
    initialize=initialize,
    outputs=("y",),
    presets=presets("R K", tiny=(2, 6), S=(2, 15), M=(2, 18), L=(2, 21), paper=(4, 10)),
    bytes=lambda R, K: 32 * R**K * K,
    flops=lambda R, K: R**K * K * (6 + 8 * R),
)
