"""Bodies that attract each other, by the leapfrog method; energies of every step."""

from __future__ import annotations

import numpy as np

import parpy

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, N, Nt):
    data = texts.data("nbody", rng, n=N, nt=Nt)
    return {**data, "dt": 0.01, "acc": np.zeros((N, 3)), "KE": np.zeros(Nt + 1), "PE": np.zeros(Nt + 1)}


@parpy.jit
def accelerate(pos, mass, G, softening, acc, N):
    for i in range(N):
        x = 0.0
        y = 0.0
        z = 0.0
        for j in range(N):
            dx = pos[j, 0] - pos[i, 0]
            dy = pos[j, 1] - pos[i, 1]
            dz = pos[j, 2] - pos[i, 2]
            square = dx * dx + dy * dy + dz * dz + softening * softening
            pull = G * mass[j, 0] / (square * np.sqrt(square))
            x += dx * pull
            y += dy * pull
            z += dz * pull
        acc[i, 0] = x
        acc[i, 1] = y
        acc[i, 2] = z


@parpy.jit
def measure(pos, vel, mass, G, KE, PE, t, N):
    kinetic = 0.0
    for i in range(N):
        kinetic += 0.5 * mass[i, 0] * (vel[i, 0] * vel[i, 0] + vel[i, 1] * vel[i, 1] + vel[i, 2] * vel[i, 2])
    KE[t] = kinetic
    potential = 0.0
    for i in range(N):
        for j in range(i + 1, N):
            dx = pos[j, 0] - pos[i, 0]
            dy = pos[j, 1] - pos[i, 1]
            dz = pos[j, 2] - pos[i, 2]
            potential -= G * mass[i, 0] * mass[j, 0] / np.sqrt(dx * dx + dy * dy + dz * dz)
    PE[t] = potential


@parpy.jit
def nbody(mass, pos, vel, N, Nt, dt, G, softening, acc, KE, PE):
    for c in range(3):
        momentum = 0.0
        total = 0.0
        for i in range(N):
            momentum += mass[i, 0] * vel[i, c]
            total += mass[i, 0]
        for i in range(N):
            vel[i, c] -= momentum / total
    accelerate(pos, mass, G, softening, acc, N)
    measure(pos, vel, mass, G, KE, PE, 0, N)
    for t in range(Nt):
        for i in range(N):
            for c in range(3):
                vel[i, c] += acc[i, c] * dt / 2.0
                pos[i, c] += vel[i, c] * dt
        accelerate(pos, mass, G, softening, acc, N)
        for i in range(N):
            for c in range(3):
                vel[i, c] += acc[i, c] * dt / 2.0
        measure(pos, vel, mass, G, KE, PE, t + 1, N)


KERNEL = Kernel(
    name="nbody",
    function=nbody,
    initialize=initialize,
    outputs=("KE", "PE", "pos", "vel"),
    returns=("KE", "PE"),
    presets=presets("N Nt", tiny=(11, 4), S=(25, 40), M=(50, 250), L=(100, 900), paper=(100, 1000)),
    bytes=lambda N, Nt: 112 * N,
    flops=lambda N, Nt: 34 * N**2 * Nt,
    steps="Nt",
    tolerance=1e-3,  # orbits are chaotic; NPBench allows 0.1
)
