"""Cholesky's factor by NumPy's library; the kernel `cholesky` has it as loops."""

from __future__ import annotations

from .. import texts
from ..kernel import Kernel, presets
from .cholesky import cholesky


def initialize(rng, N):
    return texts.data("cholesky2", rng, n=N)


KERNEL = Kernel(
    name="cholesky2",
    function=cholesky,
    initialize=initialize,
    outputs=("A",),
    presets=presets("N", tiny=(43,), S=(1000,), M=(2200,), L=(8000,), paper=(2000,)),
    bytes=lambda N: 16 * N**2,
    flops=lambda N: N**3 / 3,
    unit="f64 tensor",
)
