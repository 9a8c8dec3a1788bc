"""The Mandelbrot set on a grid: points that have escaped are masked."""

from __future__ import annotations

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, XN, YN, maxiter):
    # The same region for every seed: one chaotic point more or less decides whether results agree.
    return {**texts.data("mandelbrot1", rng, xn=XN, yn=YN, steps=maxiter), "xmin": -1.75}


KERNEL = Kernel(
    name="mandelbrot1",
    function=texts.numba_style("mandelbrot1"),
    initialize=initialize,
    outputs=("Z", "N"),
    returns=("Z", "N"),
    presets=presets(
        "XN YN maxiter",
        tiny=(17, 15, 12),
        S=(125, 125, 60),
        M=(250, 250, 150),
        L=(833, 833, 200),
        paper=(1000, 1000, 200),
    ),
    bytes=lambda XN, YN, maxiter: 24 * XN * YN,
    flops=lambda XN, YN, maxiter: 12 * 0.225 * XN * YN * maxiter,  # 22.5 % of the iterations are of live points
    tolerance=1e-3,  # NPBench's: orbits near the border are chaotic
)
