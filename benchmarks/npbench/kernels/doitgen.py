"""Every row of a tensor times a matrix, in place."""

from __future__ import annotations

import numpy as np

import parpy

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, NR, NQ, NP):
    return {**texts.data("doitgen", rng, nr=NR, nq=NQ, np_=NP), "product": np.zeros((NR, NQ, NP))}


@parpy.jit
def doitgen(A, C4, product, NR, NQ, NP):
    for r in range(NR):
        for q in range(NQ):
            for p in range(NP):
                total = 0.0
                for s in range(NP):
                    total += A[r, q, s] * C4[s, p]
                product[r, q, p] = total
    for r in range(NR):
        for q in range(NQ):
            for p in range(NP):
                A[r, q, p] = product[r, q, p]


KERNEL = Kernel(
    name="doitgen",
    function=doitgen,
    initialize=initialize,
    outputs=("A",),
    presets=presets(
        "NR NQ NP", tiny=(5, 6, 11), S=(60, 60, 128), M=(110, 125, 256), L=(220, 250, 512), paper=(220, 250, 270)
    ),
    bytes=lambda NR, NQ, NP: 8 * (2 * NR * NQ * NP + NP**2),
    flops=lambda NR, NQ, NP: 2 * NR * NQ * NP**2,
    unit="f64 tensor",
)
