"""A matrix product three times: CudaPy's, one thread per element; NumbaPro's, with tiles in shared memory; NumPy's.

Writes matmul.png: the product of two patterns.
"""

# ruff: noqa: F821

from __future__ import annotations

from pathlib import Path

import numpy as np
from pictures import coloured, milliseconds, program, save

import parpy.cudapy as cp
from parpy import cuda

tpb = 16


# naive : void (float* A, float* B, float* C, int m, int n, int p)
def naive(A, B, C, m, n, p):
    if idx < p and idy < m:
        total = 0.0
        for k in range(n):
            total = total + A[idy * n + k] * B[k * p + idx]
        C[idy * p + idx] = total


@cuda.jit("void(float32[:,:], float32[:,:], float32[:,:])")
def tiled(A, B, C):
    sA = cuda.shared.array(shape=(tpb, tpb), dtype=np.float32)
    sB = cuda.shared.array(shape=(tpb, tpb), dtype=np.float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = np.float32(0)
    for i in range((A.shape[1] + tpb - 1) // tpb):
        sA[ty, tx] = A[y, tx + i * tpb] if y < A.shape[0] and tx + i * tpb < A.shape[1] else 0
        sB[ty, tx] = B[ty + i * tpb, x] if x < B.shape[1] and ty + i * tpb < B.shape[0] else 0
        cuda.syncthreads()
        for k in range(tpb):
            total += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = total


def main(n: int, folder: Path) -> np.ndarray:
    """Multiplies matrices."""
    t = np.linspace(-3, 3, n, dtype=np.float32)
    A = np.sin(t[:, None] * t[None, :]).astype(np.float32)
    B = np.cos(t[:, None] ** 2 + t[None, :] ** 2).astype(np.float32)
    dA, dB, dC = cuda.to_device(A), cuda.to_device(B), cuda.device_array((n, n), np.float32)
    launch = tiled[(-(-n // tpb), -(-n // tpb)), (tpb, tpb)]
    took = milliseconds(lambda: launch(dA, dB, dC))
    print(f"{n} x {n} in tiles: {took:.2f} ms, {2e-6 * n**3 / took:.0f} Gflop/s")
    found = dC.copy_to_host()
    np.testing.assert_allclose(found, A @ B, rtol=1e-3, atol=1e-3 * n**0.5)

    pA, pB, pC = cp.CudaArray(A.ravel()), cp.CudaArray(B.ravel()), cp.CudaArray.allocate(n * n, cp.Float)
    product = cp.compile(naive)(n, n)
    print(f"{n} x {n}, a thread per element: {milliseconds(lambda: product(pA, pB, pC, n, n, n)):.2f} ms")
    np.testing.assert_allclose(pC.toHost().reshape(n, n), found, rtol=1e-3, atol=1e-3 * n**0.5)

    save(folder / "matmul.png", coloured(found))
    return found


if __name__ == "__main__":
    program(main, 512)
