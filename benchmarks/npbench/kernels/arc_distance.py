"""Distances of points on a sphere, pair by pair."""

from __future__ import annotations

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, N):
    return texts.data("arc_distance", rng, n=N)


KERNEL = Kernel(
    name="arc_distance",
    function=texts.numba_style("arc_distance"),
    initialize=initialize,
    outputs=("distance",),
    returns=("distance",),
    presets=presets("N", tiny=(70,), S=(100_000,), M=(1_000_000,), L=(10_000_000,), paper=(10_000_000,)),
    bytes=lambda N: 40 * N,
    flops=lambda N: 200 * N,  # the trigonometric functions written out
)
