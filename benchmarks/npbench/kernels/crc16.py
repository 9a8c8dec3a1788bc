"""A checksum of bytes, bit by bit."""

from __future__ import annotations

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, N):
    return texts.data("crc16", rng, n=N)


KERNEL = Kernel(
    name="crc16",
    function=texts.numba_style("crc16"),
    initialize=initialize,
    outputs=("crc",),
    returns=("crc",),
    presets=presets("N", tiny=(61,), S=(1600,), M=(16_000,), L=(160_000,), paper=(1_000_000,)),
    bytes=lambda N: N,
    flops=lambda N: 40 * N,
    unit="int32",
)
