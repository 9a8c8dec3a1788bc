"""Electric and magnetic fields in the plane by finite differences, driven at the first row."""

from __future__ import annotations

import parpy
from parpy import threads

from ..kernel import CORES, SIMD, Kernel, presets, share


def initialize(rng, TMAX, NX, NY):
    return {"_fict_": rng.random(TMAX), **{name: rng.random((NX, NY)) for name in ("ex", "ey", "hz")}}


def reference(ex, ey, hz, _fict_, TMAX):
    for t in range(TMAX):
        ey[0, :] = _fict_[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


@parpy.jit
def fdtd_2d(ex, ey, hz, _fict_, TMAX, NX, NY):
    for t in range(TMAX):
        parpy.label("i")
        for i in range(NX):
            if i == 0:
                parpy.label("j")
                for j in range(NY):
                    ey[i, j] = _fict_[t]
            else:
                parpy.label("j")
                for j in range(NY):
                    ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
            parpy.label("j")
            for j in range(1, NY):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        parpy.label("i")
        for i in range(NX - 1):
            parpy.label("j")
            for j in range(NY - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


KERNEL = Kernel(
    name="fdtd_2d",
    function=fdtd_2d,
    reference=reference,
    initialize=initialize,
    outputs=("ex", "ey", "hz"),
    presets=presets(
        "TMAX NX NY",
        tiny=(5, 37, 41),
        S=(20, 200, 220),
        M=(60, 400, 450),
        L=(150, 800, 900),
        paper=(500, 1000, 1200),
    ),
    cpu={"i": CORES, "j": SIMD},
    cuda=lambda TMAX, NX, NY: {"i": threads(NX), "j": share(NY, 2)},
    bytes=lambda TMAX, NX, NY: 72 * NX * NY * TMAX,
    flops=lambda TMAX, NX, NY: 11 * NX * NY * TMAX,
    steps="TMAX",
)
