"""Mean of `data` in each of npt rings of equal width, by two histograms."""

from __future__ import annotations

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, N, npt):
    return texts.data("azimint_hist", rng, n=N, npt=npt)


KERNEL = Kernel(
    name="azimint_hist",
    function=texts.numba_style("azimint_hist"),
    initialize=initialize,
    outputs=("res",),
    returns=("res",),
    presets=presets(
        "N npt",
        tiny=(701, 5),
        S=(400_000, 1000),
        M=(4_000_000, 1000),
        L=(40_000_000, 1000),
        paper=(1_000_000, 1000),
    ),
    bytes=lambda N, npt: 40 * N,
    flops=lambda N, npt: 8 * N,
)
