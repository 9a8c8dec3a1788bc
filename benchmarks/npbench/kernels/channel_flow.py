"""Flow in a periodic channel under a force, until it changes little."""

from __future__ import annotations

import numpy as np

import parpy

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, nx, ny, nit):
    assert nx == ny
    scratch = {name: np.zeros((ny, nx)) for name in ("un", "vn", "pn", "b")}
    return {**texts.data("channel_flow", rng, n=nx, nit=nit), **scratch}


@parpy.jit
def channel_flow(nit, u, v, dt, dx, dy, p, rho, nu, F, un, vn, pn, b, nx, ny):
    change = 1.0
    steps = 0
    while change > 0.001:
        before = 0.0
        for i in range(ny):
            for j in range(nx):
                un[i, j] = u[i, j]
                vn[i, j] = v[i, j]
                before += u[i, j]
        for i in range(1, ny - 1):
            for j in range(nx):
                west = j - 1 if j > 0 else nx - 1
                east = j + 1 if j < nx - 1 else 0
                ux = (u[i, east] - u[i, west]) / (2 * dx)
                uy = (u[i + 1, j] - u[i - 1, j]) / (2 * dy)
                vx = (v[i, east] - v[i, west]) / (2 * dx)
                vy = (v[i + 1, j] - v[i - 1, j]) / (2 * dy)
                b[i, j] = rho * ((ux + vy) / dt - ux * ux - 2 * uy * vx - vy * vy)
        for q in range(nit):
            for i in range(ny):
                for j in range(nx):
                    pn[i, j] = p[i, j]
            for i in range(1, ny - 1):
                for j in range(nx):
                    west = j - 1 if j > 0 else nx - 1
                    east = j + 1 if j < nx - 1 else 0
                    p[i, j] = (
                        (pn[i, east] + pn[i, west]) * dy**2
                        + (pn[i + 1, j] + pn[i - 1, j]) * dx**2
                        - dx**2 * dy**2 * b[i, j]
                    ) / (2 * (dx**2 + dy**2))
            for j in range(nx):
                p[ny - 1, j] = p[ny - 2, j]
                p[0, j] = p[1, j]
        for i in range(1, ny - 1):
            for j in range(nx):
                west = j - 1 if j > 0 else nx - 1
                east = j + 1 if j < nx - 1 else 0
                u[i, j] = (
                    un[i, j]
                    - un[i, j] * dt / dx * (un[i, j] - un[i, west])
                    - vn[i, j] * dt / dy * (un[i, j] - un[i - 1, j])
                    - dt / (2 * rho * dx) * (p[i, east] - p[i, west])
                    + nu * dt / dx**2 * (un[i, east] - 2 * un[i, j] + un[i, west])
                    + nu * dt / dy**2 * (un[i + 1, j] - 2 * un[i, j] + un[i - 1, j])
                    + F * dt
                )
                v[i, j] = (
                    vn[i, j]
                    - un[i, j] * dt / dx * (vn[i, j] - vn[i, west])
                    - vn[i, j] * dt / dy * (vn[i, j] - vn[i - 1, j])
                    - dt / (2 * rho * dy) * (p[i + 1, j] - p[i - 1, j])
                    + nu * dt / dx**2 * (vn[i, east] - 2 * vn[i, j] + vn[i, west])
                    + nu * dt / dy**2 * (vn[i + 1, j] - 2 * vn[i, j] + vn[i - 1, j])
                )
        for j in range(nx):
            u[0, j] = 0.0
            u[ny - 1, j] = 0.0
            v[0, j] = 0.0
            v[ny - 1, j] = 0.0
        after = 0.0
        for i in range(ny):
            for j in range(nx):
                after += u[i, j]
        change = (after - before) / after
        steps += 1
    return steps


STEPS = 990  # about as many as NPBench's sizes need


KERNEL = Kernel(
    name="channel_flow",
    function=channel_flow,
    initialize=initialize,
    outputs=("u", "p", "stepcount"),  # v decays to rounding errors
    returns=("stepcount",),
    presets=presets(
        "nx ny nit", tiny=(9, 9, 4), S=(61, 61, 5), M=(121, 121, 10), L=(201, 201, 20), paper=(101, 101, 50)
    ),
    bytes=lambda nx, ny, nit: 8 * nx * ny * STEPS * (3 * nit + 10),
    flops=lambda nx, ny, nit: nx * ny * STEPS * (10 * nit + 85),
    tolerance=1e-8,  # rounding over a thousand steps
)
