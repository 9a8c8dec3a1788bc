"""The Mandelbrot set on a grid: points that have escaped are removed from the arrays."""

from __future__ import annotations

import numpy as np

import parpy

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, XN, YN, maxiter):
    results = {"Z": np.zeros((YN, XN), complex), "N": np.zeros((YN, XN), np.int64)}
    # The same region for every seed: one chaotic point more or less decides whether results agree.
    return {**texts.data("mandelbrot2", rng, xn=XN, yn=YN, steps=maxiter), "xmin": -1.75, **results}


@parpy.jit
def mandelbrot2(xmin, xmax, ymin, ymax, xn, yn, itermax, Z, N):
    for i in range(yn):
        for j in range(xn):
            c = complex(xmin + j * ((xmax - xmin) / (xn - 1)), ymin + i * ((ymax - ymin) / (yn - 1)))
            z = 0j
            Z[i, j] = 0j
            N[i, j] = 0
            for n in range(itermax):
                z = z * z + c
                if abs(z) > 2.0:
                    Z[i, j] = z
                    N[i, j] = n + 1
                    break


KERNEL = Kernel(
    name="mandelbrot2",
    function=mandelbrot2,
    initialize=initialize,
    outputs=("Z", "N"),
    returns=("Z", "N"),
    presets=presets(
        "XN YN maxiter",
        tiny=(17, 15, 12),
        S=(200, 200, 40),
        M=(500, 500, 80),
        L=(1000, 1000, 100),
        paper=(1000, 1000, 200),
    ),
    bytes=lambda XN, YN, maxiter: 24 * XN * YN,
    flops=lambda XN, YN, maxiter: 12 * 0.225 * XN * YN * maxiter,  # 22.5 % of the iterations are of live points
    tolerance=1e-3,  # NPBench's: orbits near the border are chaotic
)
