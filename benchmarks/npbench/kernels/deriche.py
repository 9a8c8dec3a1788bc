"""A recursive filter for edges: forwards and backwards along rows, then along columns."""

from __future__ import annotations

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, W, H):
    return texts.data("deriche", rng, w=W, h=H)


KERNEL = Kernel(
    name="deriche",
    function=texts.numba_style("deriche"),
    initialize=initialize,
    outputs=("imgOut",),
    returns=("imgOut",),
    presets=presets("W H", tiny=(17, 13), S=(400, 200), M=(1500, 1000), L=(6000, 3000), paper=(7680, 4320)),
    bytes=lambda W, H: 112 * W * H,
    flops=lambda W, H: 32 * W * H,
)
