"""Vertical advection: a tridiagonal system in every column."""

from __future__ import annotations

import numpy as np

import parpy

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, I, J, K):
    data = texts.data("vadv", rng, i=I, j=J, k=K)
    return {**data, "upper": np.zeros((I, J, K)), "right": np.zeros((I, J, K))}


@parpy.jit
def vadv(utens_stage, u_stage, wcon, u_pos, utens, dtr_stage, upper, right, I, J, K):
    """Thomas's algorithm: `upper` is the diagonal above, `right` the right-hand side, both divided by the pivots."""
    for i in range(I):
        for j in range(J):
            below = 0.125 * (wcon[i + 1, j, 1] + wcon[i, j, 1])
            pivot = dtr_stage - below
            value = dtr_stage * u_pos[i, j, 0] + utens[i, j, 0] + utens_stage[i, j, 0]
            value -= below * (u_stage[i, j, 1] - u_stage[i, j, 0])
            upper[i, j, 0] = below / pivot
            right[i, j, 0] = value / pivot
            for k in range(1, K - 1):
                above = -0.125 * (wcon[i + 1, j, k] + wcon[i, j, k])
                below = 0.125 * (wcon[i + 1, j, k + 1] + wcon[i, j, k + 1])
                value = dtr_stage * u_pos[i, j, k] + utens[i, j, k] + utens_stage[i, j, k]
                value -= above * (u_stage[i, j, k - 1] - u_stage[i, j, k])
                value -= below * (u_stage[i, j, k + 1] - u_stage[i, j, k])
                pivot = dtr_stage - above - below - upper[i, j, k - 1] * above
                upper[i, j, k] = below / pivot
                right[i, j, k] = (value - right[i, j, k - 1] * above) / pivot
            above = -0.125 * (wcon[i + 1, j, K - 1] + wcon[i, j, K - 1])
            value = dtr_stage * u_pos[i, j, K - 1] + utens[i, j, K - 1] + utens_stage[i, j, K - 1]
            value -= above * (u_stage[i, j, K - 2] - u_stage[i, j, K - 1])
            solved = (value - right[i, j, K - 2] * above) / (dtr_stage - above - upper[i, j, K - 2] * above)
            utens_stage[i, j, K - 1] = dtr_stage * (solved - u_pos[i, j, K - 1])
            for k in range(K - 2, -1, -1):
                solved = right[i, j, k] - upper[i, j, k] * solved
                utens_stage[i, j, k] = dtr_stage * (solved - u_pos[i, j, k])


KERNEL = Kernel(
    name="vadv",
    function=vadv,
    initialize=initialize,
    outputs=("utens_stage",),
    presets=presets(
        "I J K", tiny=(6, 7, 8), S=(60, 60, 40), M=(112, 112, 80), L=(180, 180, 160), paper=(256, 256, 160)
    ),
    bytes=lambda I, J, K: 88 * I * J * K,
    flops=lambda I, J, K: 32 * I * J * K,
    tolerance=1e-9,  # the systems' condition times rounding
)
