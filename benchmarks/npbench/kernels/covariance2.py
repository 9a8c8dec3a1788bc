"""The covariances of the columns of a table by NumPy's library; the kernel `covariance` has them as loops."""

from __future__ import annotations

import numpy as np

from .. import texts
from ..kernel import Kernel, presets
from .covariance import covariance


def initialize(rng, M, N):
    return {**texts.data("covariance2", rng, m=M, n=N), "mean": np.zeros(M), "cov": np.zeros((M, M))}


KERNEL = Kernel(
    name="covariance2",
    function=covariance,
    initialize=initialize,
    outputs=("cov",),
    returns=("cov",),
    presets=presets("M N", tiny=(37, 41), S=(500, 600), M=(1400, 1800), L=(3200, 4000), paper=(1200, 1400)),
    bytes=lambda M, N: 8 * (3 * N * M + M**2),
    flops=lambda M, N: M**2 * N,
    unit="f64 tensor",
)
