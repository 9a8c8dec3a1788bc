"""Smoothing in place: every element uses the new values of the neighbours before it."""

from __future__ import annotations

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, TSTEPS, N):
    return texts.data("seidel_2d", rng, steps=TSTEPS, n=N)


KERNEL = Kernel(
    name="seidel_2d",
    function=texts.numba_style("seidel_2d"),
    initialize=initialize,
    outputs=("A",),
    presets=presets("TSTEPS N", tiny=(4, 13), S=(8, 50), M=(15, 100), L=(40, 200), paper=(100, 400)),
    bytes=lambda TSTEPS, N: 16 * N**2 * (TSTEPS - 1),
    flops=lambda TSTEPS, N: 9 * N**2 * (TSTEPS - 1),
    steps="TSTEPS",
)
