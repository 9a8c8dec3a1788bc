"""Flow in a cavity whose lid moves: pressure by iterations, then velocities, in every step."""

from __future__ import annotations

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, nx, ny, nt, nit):
    assert nx == ny
    return texts.data("cavity_flow", rng, n=nx, nt=nt, nit=nit)


KERNEL = Kernel(
    name="cavity_flow",
    function=texts.numba_style("cavity_flow"),
    initialize=initialize,
    outputs=("u", "v", "p"),
    presets=presets(
        "nx ny nt nit",
        tiny=(13, 13, 3, 4),
        S=(61, 61, 25, 5),
        M=(121, 121, 50, 10),
        L=(201, 201, 100, 20),
        paper=(101, 101, 700, 50),
    ),
    bytes=lambda nx, ny, nt, nit: 8 * nx * ny * nt * (3 * nit + 10),
    flops=lambda nx, ny, nt, nit: nx * ny * nt * (10 * nit + 85),
    steps="nt",
)
