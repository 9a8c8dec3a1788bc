"""Horizontal diffusion with a flux limiter: Laplacians, limited fluxes and result in one sweep."""

from __future__ import annotations

import numpy as np

import parpy
from parpy import threads

from ..kernel import CORES, SIMD, Kernel, presets


def initialize(rng, I, J, K):
    return {"src": rng.random((I + 4, J + 4, K)), "coeff": rng.random((I, J, K)), "out": np.zeros((I, J, K))}


def reference(src, coeff, out):
    lap = 4.0 * src[1:-1, 1:-1] - (src[2:, 1:-1] + src[:-2, 1:-1] + src[1:-1, 2:] + src[1:-1, :-2])
    flux = lap[1:, 1:-1] - lap[:-1, 1:-1]
    fx = np.where(flux * (src[2:-1, 2:-2] - src[1:-2, 2:-2]) > 0, 0.0, flux)
    flux = lap[1:-1, 1:] - lap[1:-1, :-1]
    fy = np.where(flux * (src[2:-2, 2:-1] - src[2:-2, 1:-2]) > 0, 0.0, flux)
    out[:] = src[2:-2, 2:-2] - coeff * (fx[1:] - fx[:-1] + fy[:, 1:] - fy[:, :-1])


@parpy.jit
def hdiff(src, coeff, out, I, J, K):
    parpy.label("i")
    for i in range(I):
        parpy.label("j")
        for j in range(J):
            parpy.label("k")
            for k in range(K):
                v = src[i + 2, j + 2, k]
                north = src[i + 1, j + 2, k]
                south = src[i + 3, j + 2, k]
                west = src[i + 2, j + 1, k]
                east = src[i + 2, j + 3, k]
                centre = 4.0 * v - (south + north + east + west)
                up = 4.0 * north - (v + src[i, j + 2, k] + src[i + 1, j + 3, k] + src[i + 1, j + 1, k])
                down = 4.0 * south - (src[i + 4, j + 2, k] + v + src[i + 3, j + 3, k] + src[i + 3, j + 1, k])
                left = 4.0 * west - (src[i + 3, j + 1, k] + src[i + 1, j + 1, k] + v + src[i + 2, j, k])
                right = 4.0 * east - (src[i + 3, j + 3, k] + src[i + 1, j + 3, k] + src[i + 2, j + 4, k] + v)
                flux_up = centre - up
                flux_down = down - centre
                flux_left = centre - left
                flux_right = right - centre
                if flux_up * (v - north) > 0.0:
                    flux_up = 0.0
                if flux_down * (south - v) > 0.0:
                    flux_down = 0.0
                if flux_left * (v - west) > 0.0:
                    flux_left = 0.0
                if flux_right * (east - v) > 0.0:
                    flux_right = 0.0
                out[i, j, k] = v - coeff[i, j, k] * (flux_down - flux_up + flux_right - flux_left)


KERNEL = Kernel(
    function=hdiff,
    reference=reference,
    initialize=initialize,
    outputs=("out",),
    presets=presets(
        "I J K",
        tiny=(7, 9, 35),
        S=(64, 64, 60),
        M=(128, 128, 160),
        L=(384, 384, 160),
        paper=(256, 256, 160),
    ),
    cpu={"i": CORES, "k": SIMD},
    cuda=lambda I, J, K: {"i": threads(I), "j": threads(J), "k": threads(K)},
    bytes=lambda I, J, K: 8 * ((I + 4) * (J + 4) * K + 2 * I * J * K),
    flops=lambda I, J, K: 30 * I * J * K,
)
