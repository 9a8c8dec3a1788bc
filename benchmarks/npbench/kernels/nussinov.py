"""The folding of RNA with the most pairs."""

from __future__ import annotations

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, N):
    return texts.data("nussinov", rng, n=N)


KERNEL = Kernel(
    name="nussinov",
    function=texts.numba_style("nussinov"),
    initialize=initialize,
    outputs=("table",),
    returns=("table",),
    presets=presets("N", tiny=(19,), S=(40,), M=(90,), L=(200,), paper=(500,)),
    bytes=lambda N: 4 * N**2,
    flops=lambda N: N**3 / 3,
    unit="int32",
)
