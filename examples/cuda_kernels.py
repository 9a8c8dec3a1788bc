"""Kernels written by hand, after the NumbaPro slides: a sum of arrays, a tiled product, a function in CUDA C++.

Runs on a GPU, or on the simulator where there is none.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

from parpy import cuda

TILE = 16


@cuda.jit("void(float32[:], float32[:], float32[:])")
def add(a, b, out):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if i >= out.shape[0]:
        return
    out[i] = a[i] + b[i]


@cuda.jit("void(float32[:,:], float32[:,:], float32[:,:])")
def product(a, b, c):
    sa = cuda.shared.array(shape=(TILE, TILE), dtype=np.float32)
    sb = cuda.shared.array(shape=(TILE, TILE), dtype=np.float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = np.float32(0)
    for i in range(a.shape[1] // TILE):
        sa[ty, tx] = a[y, tx + i * TILE]
        sb[ty, tx] = b[ty + i * TILE, x]
        cuda.syncthreads()
        for k in range(TILE):
            total += sa[ty, k] * sb[k, tx]
        cuda.syncthreads()
    c[y, x] = total


def linked(folder: Path):
    """A kernel that calls a function of a .cu file: the slides' `bar`, whose result is its last parameter."""
    source = folder / "bar.cu"
    source.write_text('extern "C" __device__ void bar(int a, int* out) { *out = a * 2; }\n')
    bar = cuda.declare_device("bar", "int32(int32)", link=source, abi="out")

    @cuda.jit("void(int32[:], int32[:])")
    def foo(x, y):
        i = cuda.grid(1)
        x[i] += bar(y[i])

    return foo


def main() -> None:
    rng = np.random.default_rng(0)
    a, b, out = rng.random(10_000, np.float32), rng.random(10_000, np.float32), np.zeros(10_000, np.float32)
    add.forall(out.size)(a, b, out)
    np.testing.assert_array_equal(out, a + b)

    n = 256
    m, k = rng.random((n, n), np.float32), rng.random((n, n), np.float32)
    dm, dk, dc = cuda.to_device(m), cuda.to_device(k), cuda.device_array((n, n), np.float32)
    product[(n // TILE, n // TILE), (TILE, TILE)](dm, dk, dc)
    np.testing.assert_allclose(dc.copy_to_host(), m @ k, rtol=1e-4)
    start = time.perf_counter()
    product[(n // TILE, n // TILE), (TILE, TILE)](dm, dk, dc)
    cuda.synchronize()
    print(f"{n} x {n} product: {1e3 * (time.perf_counter() - start):.2f} ms on {cuda.get_current_device()}")

    with tempfile.TemporaryDirectory() as folder:
        x, y = np.ones(32, np.int32), np.arange(32, dtype=np.int32)
        linked(Path(folder))[1, 32](x, y)
        np.testing.assert_array_equal(x, 1 + 2 * np.arange(32))


if __name__ == "__main__":
    main()
