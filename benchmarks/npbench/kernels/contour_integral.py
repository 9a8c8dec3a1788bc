"""Moments of the resolvent of a matrix polynomial along a contour: a linear system for every point."""

from __future__ import annotations

import numpy as np

import parpy

from .. import texts
from ..kernel import Kernel, presets


def initialize(rng, NR, NM, num_int_pts):
    scratch = {"T": np.zeros((num_int_pts, NR, NR), complex), "X": np.zeros((num_int_pts, NR, NM), complex)}
    results = {name: np.zeros((NR, NM), complex) for name in ("P0", "P1")}
    return {**texts.data("contour_integral", rng, nr=NR, nm=NM, points=num_int_pts), **scratch, **results}


@parpy.jit
def contour_integral(slab_per_bc, Ham, int_pts, Y, T, X, P0, P1, NR, NM, num_int_pts):
    """Gaussian elimination with pivots, of all systems in step."""
    for p in range(num_int_pts):
        for i in range(NR):
            for j in range(NR):
                total = 0j
                for n in range(slab_per_bc + 1):
                    total += np.power(int_pts[p], slab_per_bc / 2 - n) * Ham[n, i, j]
                T[p, i, j] = total
            for m in range(NM):
                X[p, i, m] = Y[i, m]
    for k in range(NR):
        for p in range(num_int_pts):
            largest = k
            for i in range(k + 1, NR):
                if abs(T[p, i, k]) > abs(T[p, largest, k]):
                    largest = i
            if largest != k:
                for j in range(k, NR):
                    T[p, k, j], T[p, largest, j] = T[p, largest, j], T[p, k, j]
                for m in range(NM):
                    X[p, k, m], X[p, largest, m] = X[p, largest, m], X[p, k, m]
        for p in range(num_int_pts):
            for i in range(k + 1, NR):
                factor = T[p, i, k] / T[p, k, k]
                for j in range(k + 1, NR):
                    T[p, i, j] -= factor * T[p, k, j]
                for m in range(NM):
                    X[p, i, m] -= factor * X[p, k, m]
    for k in range(NR - 1, -1, -1):
        for p in range(num_int_pts):
            for m in range(NM):
                X[p, k, m] /= T[p, k, k]
        for p in range(num_int_pts):
            for i in range(k):
                for m in range(NM):
                    X[p, i, m] -= T[p, i, k] * X[p, k, m]
    for i in range(NR):
        for m in range(NM):
            zeroth = 0j
            first = 0j
            for p in range(num_int_pts):
                x = -X[p, i, m] if abs(int_pts[p]) < 1.0 else X[p, i, m]
                zeroth += x
                first += int_pts[p] * x
            P0[i, m] = zeroth
            P1[i, m] = first


KERNEL = Kernel(
    name="contour_integral",
    function=contour_integral,
    initialize=initialize,
    outputs=("P0", "P1"),
    returns=("P0", "P1"),
    presets=presets(
        "NR NM num_int_pts",
        tiny=(9, 11, 6),
        S=(50, 150, 32),
        M=(200, 400, 32),
        L=(600, 1000, 32),
        paper=(500, 1000, 32),
    ),
    bytes=lambda NR, NM, num_int_pts: 16 * num_int_pts * (5 * NR**2 + 6 * NR * NM),
    flops=lambda NR, NM, num_int_pts: num_int_pts * (8 / 3 * NR**3 + 8 * NR**2 * NM),
    unit="f64 tensor",
    tolerance=1e-8,  # the condition of the systems times rounding
)
