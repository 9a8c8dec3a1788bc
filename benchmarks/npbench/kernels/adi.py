"""Heat equation by alternating directions: a tridiagonal solve along each dimension in every step."""

from __future__ import annotations

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, TSTEPS, N):
    return texts.data("adi", rng, steps=TSTEPS, n=N)


KERNEL = Kernel(
    name="adi",
    function=texts.numba_style("adi"),
    initialize=initialize,
    outputs=("u",),
    presets=presets("TSTEPS N", tiny=(3, 13), S=(5, 100), M=(20, 200), L=(50, 500), paper=(100, 200)),
    bytes=lambda TSTEPS, N: 96 * N**2 * TSTEPS,
    flops=lambda TSTEPS, N: 30 * N**2 * TSTEPS,
    steps="TSTEPS",
)
