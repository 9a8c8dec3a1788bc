"""Horizontal diffusion with a flux limiter: Laplacians, limited fluxes and result in one sweep."""

from __future__ import annotations

import numpy as np

import parpy
from parpy import threads

from ..kernel import CORES, SIMD, Kernel, presets


def initialize(rng, I, J, K):
    return {"in_field": rng.random((I + 4, J + 4, K)), "coeff": rng.random((I, J, K)), "out_field": np.zeros((I, J, K))}


@parpy.jit
def hdiff(in_field, coeff, out_field, I, J, K):
    parpy.label("i")
    for i in range(I):
        parpy.label("j")
        for j in range(J):
            parpy.label("k")
            for k in range(K):
                v = in_field[i + 2, j + 2, k]
                north = in_field[i + 1, j + 2, k]
                south = in_field[i + 3, j + 2, k]
                west = in_field[i + 2, j + 1, k]
                east = in_field[i + 2, j + 3, k]
                centre = 4.0 * v - (south + north + east + west)
                up = 4.0 * north - (v + in_field[i, j + 2, k] + in_field[i + 1, j + 3, k] + in_field[i + 1, j + 1, k])
                down = 4.0 * south - (
                    in_field[i + 4, j + 2, k] + v + in_field[i + 3, j + 3, k] + in_field[i + 3, j + 1, k]
                )
                left = 4.0 * west - (in_field[i + 3, j + 1, k] + in_field[i + 1, j + 1, k] + v + in_field[i + 2, j, k])
                right = 4.0 * east - (
                    in_field[i + 3, j + 3, k] + in_field[i + 1, j + 3, k] + in_field[i + 2, j + 4, k] + v
                )
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
                out_field[i, j, k] = v - coeff[i, j, k] * (flux_down - flux_up + flux_right - flux_left)


KERNEL = Kernel(
    name="hdiff",
    function=hdiff,
    initialize=initialize,
    outputs=("out_field",),
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
