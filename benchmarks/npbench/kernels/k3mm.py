"""Three products of matrices."""

from __future__ import annotations

import numpy as np

import parpy

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, NI, NJ, NK, NL, NM):
    scratch = {"first": np.zeros((NI, NJ)), "second": np.zeros((NI, NM)), "product": np.zeros((NI, NL))}
    return {**texts.data("k3mm", rng, ni=NI, nj=NJ, nk=NK, nl=NM, nm=NL), **scratch}


@parpy.jit
def k3mm(A, B, C, D, first, second, product, NI, NJ, NK, NL, NM):
    for i in range(NI):
        for j in range(NJ):
            total = 0.0
            for k in range(NK):
                total += A[i, k] * B[k, j]
            first[i, j] = total
    for i in range(NI):
        for m in range(NM):
            total = 0.0
            for j in range(NJ):
                total += first[i, j] * C[j, m]
            second[i, m] = total
    for i in range(NI):
        for l in range(NL):
            total = 0.0
            for m in range(NM):
                total += second[i, m] * D[m, l]
            product[i, l] = total


KERNEL = Kernel(
    name="k3mm",
    function=k3mm,
    initialize=initialize,
    outputs=("product",),
    returns=("product",),
    presets=presets(
        "NI NJ NK NL NM",
        tiny=(17, 19, 21, 23, 25),
        S=(800, 850, 900, 950, 1000),
        M=(2000, 2200, 2400, 2600, 2800),
        L=(5500, 6000, 6500, 7000, 7500),
        paper=(3200, 3600, 4000, 4400, 4800),
    ),
    bytes=lambda NI, NJ, NK, NL, NM: 8 * (NI * NK + NK * NJ + NJ * NM + NM * NL + 2 * NI * (NJ + NM) + NI * NL),
    flops=lambda NI, NJ, NK, NL, NM: 2 * NI * (NJ * NK + NM * NJ + NL * NM),
    unit="f64 tensor",
)
