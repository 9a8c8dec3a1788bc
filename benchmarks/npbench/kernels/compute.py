"""An elementwise expression of integers."""

from __future__ import annotations

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, M, N):
    return texts.data("compute", rng, m=M, n=N)


KERNEL = Kernel(
    name="compute",
    function=texts.numba_style("compute"),
    initialize=initialize,
    outputs=("result",),
    returns=("result",),
    presets=presets("M N", tiny=(13, 17), S=(2000, 2000), M=(5000, 5000), L=(16_000, 16_000), paper=(12_500, 12_500)),
    bytes=lambda M, N: 24 * M * N,
    flops=lambda M, N: 6 * M * N,
    unit="int64",
)
