"""y = A x with a sparse A that stores the non-zeros of its rows one after another."""

from __future__ import annotations

import numpy as np

import parpy
from parpy import threads

from ..kernel import CORES, Kernel, presets


def initialize(rng, M, N, nnz):
    places = np.unique(rng.integers(0, M * N, nnz))
    A_row = np.searchsorted(places // N, np.arange(M + 1)).astype(np.uint32)
    A_col = (places % N).astype(np.uint32)
    return {"A_row": A_row, "A_col": A_col, "A_val": rng.random(len(A_col)), "x": rng.random(N), "y": np.zeros(M)}


def reference(A_row, A_col, A_val, x, y, M):
    of = np.searchsorted(A_row, np.arange(len(A_col)), side="right") - 1
    y[:] = np.bincount(of, A_val * x[A_col], M)


@parpy.jit
def spmv(A_row, A_col, A_val, x, y, M):
    parpy.label("i")
    for i in range(M):
        total = 0.0
        for k in range(A_row[i], A_row[i + 1]):
            total += A_val[k] * x[A_col[k]]
        y[i] = total


KERNEL = Kernel(
    name="spmv",
    function=spmv,
    reference=reference,
    initialize=initialize,
    outputs=("y",),
    returns=("y",),
    presets=presets(
        "M N nnz",
        tiny=(70, 60, 150),
        S=(4096, 4096, 8192),
        M=(32_768, 32_768, 65_536),
        L=(262_144, 262_144, 262_144),
        paper=(131_072, 131_072, 262_144),
    ),
    cpu={"i": CORES},
    cuda=lambda M, N, nnz: {"i": threads(M).tpb(128)},
    bytes=lambda M, N, nnz: 20 * nnz + 12 * M,
    flops=lambda M, N, nnz: 2 * nnz,
)
