"""Two products of matrices in a row."""

from __future__ import annotations

import numpy as np

import parpy

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, NI, NJ, NK, NL):
    return {**texts.data("k2mm", rng, ni=NI, nj=NJ, nk=NK, nl=NL), "product": np.zeros((NI, NJ))}


@parpy.jit
def k2mm(alpha, beta, A, B, C, D, product, NI, NJ, NK, NL):
    for i in range(NI):
        for j in range(NJ):
            total = 0.0
            for k in range(NK):
                total += A[i, k] * B[k, j]
            product[i, j] = alpha * total
    for i in range(NI):
        for l in range(NL):
            total = 0.0
            for j in range(NJ):
                total += product[i, j] * C[j, l]
            D[i, l] = total + beta * D[i, l]


KERNEL = Kernel(
    name="k2mm",
    function=k2mm,
    initialize=initialize,
    outputs=("D",),
    presets=presets(
        "NI NJ NK NL",
        tiny=(17, 19, 21, 23),
        S=(800, 850, 900, 950),
        M=(2000, 2250, 2500, 2750),
        L=(6000, 6500, 7000, 7500),
        paper=(3200, 3600, 4400, 4800),
    ),
    bytes=lambda NI, NJ, NK, NL: 8 * (NI * NK + NK * NJ + NJ * NL + 2 * NI * NJ + 2 * NI * NL),
    flops=lambda NI, NJ, NK, NL: 2 * NI * NJ * (NK + NL),
    unit="f64 tensor",
)
