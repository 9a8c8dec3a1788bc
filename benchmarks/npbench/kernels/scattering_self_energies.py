"""Self-energies of electrons that phonons scatter: sums of products of small matrices."""

from __future__ import annotations

import parpy

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, Nkz, NE, Nqz, Nw, N3D, NA, NB, Norb):
    sizes = {"nkz": Nkz, "ne": NE, "nqz": Nqz, "nw": Nw, "n3d": N3D, "na": NA, "nb": NB, "norb": Norb}
    return texts.data("scattering_self_energies", rng, **sizes)


@parpy.jit
def scattering_self_energies(neigh_idx, dH, G, D, Sigma, Nkz, NE, Nqz, Nw, N3D, NA, NB, Norb):
    for k in range(Nkz):
        for E in range(NE):
            for a in range(NA):
                for x in range(Norb):
                    for y in range(Norb):
                        total = 0j
                        for w in range(min(Nw, E + 1)):
                            for b in range(NB):
                                for i in range(N3D):
                                    for z in range(Norb):
                                        left = 0j
                                        for v in range(Norb):
                                            left += G[k, E - w, neigh_idx[a, b], x, v] * dH[a, b, i, v, z]
                                        for j in range(N3D):
                                            right = 0j
                                            for q in range(Nqz):
                                                right += D[q, w, a, b, i, j]
                                            total += left * dH[a, b, j, z, y] * right
                        Sigma[k, E, a, x, y] += total


def points(Nkz, NE, Nqz, Nw, N3D, NA, NB, Norb):
    """The number of products of matrices."""
    return Nkz * Nqz * N3D**2 * NA * NB * sum(min(Nw, E + 1) for E in range(NE))


def least_bytes(Nkz, NE, Nqz, Nw, N3D, NA, NB, Norb):
    G, dH, D = Nkz * NE * NA * Norb**2, NA * NB * N3D * Norb**2, Nqz * Nw * NA * NB * N3D**2
    return 16 * (2 * G + dH + D)


KERNEL = Kernel(
    name="scattering_self_energies",
    function=scattering_self_energies,
    initialize=initialize,
    outputs=("Sigma",),
    presets=presets(
        "Nkz NE Nqz Nw N3D NA NB Norb",
        tiny=(2, 3, 2, 2, 2, 4, 2, 2),
        S=(2, 4, 2, 2, 2, 6, 2, 3),
        M=(3, 5, 3, 2, 2, 10, 3, 4),
        L=(3, 10, 3, 3, 3, 12, 4, 4),
        paper=(4, 10, 4, 3, 3, 20, 4, 4),
    ),
    bytes=least_bytes,
    flops=lambda **sizes: (16 * sizes["Norb"] ** 3 + 8 * sizes["Norb"] ** 2) * points(**sizes),
)
