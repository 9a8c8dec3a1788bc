"""SAXPY, CudaPy's first example, NumbaPro's sum of arrays, and a chain of kernels on device arrays.

Writes saxpy.png: the wave that is the sum of a hundred SAXPYs.
"""

# ruff: noqa: F821

from __future__ import annotations

from pathlib import Path

import numpy as np
from pictures import coloured, milliseconds, program, save

import parpy.cudapy as cp
from parpy import cuda


# saxpy : void (float alpha, float* X, float* Y)
def saxpy(alpha, X, Y):
    if idx < len(X):
        Y[idx] = alpha * X[idx] + Y[idx]


# multiply : void (float alpha, float* X, float* result)
def multiply(alpha, X, result):
    if idx < len(X):
        result[idx] = alpha * X[idx]


# add : void (float* Y, float* result)
def add(Y, result):
    if idx < len(Y):
        result[idx] = result[idx] + Y[idx]


@cuda.jit("void(float32, float32[:], float32[:])")
def saxpy_of_numba(alpha, x, y):
    tid = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if tid >= y.shape[0]:
        return
    y[tid] = alpha * x[tid] + y[tid]


def chained(alpha: float, X: list[float], Y: list[float]) -> list[float]:
    """``alpha * X + Y`` by two kernels: the result stays on the device until the last line."""
    result = cp.CudaArray.allocate(len(X), cp.Float)
    cp.compile(multiply)(len(X))(alpha, X, result)
    cp.compile(add)(len(X))(Y, result)
    return result.toList()


def main(width: int, folder: Path) -> np.ndarray:
    """Adds up waves."""
    X, Y = [1.0, 2.0, 3.0], [10.0, 20.0, 30.0]
    on_device = cp.CudaArray(Y)
    cp.compile(saxpy)(len(X))(5.0, X, on_device)
    assert on_device.toList() == chained(5.0, X, Y) == [15.0, 30.0, 45.0]

    t = np.linspace(0, 2 * np.pi, width, dtype=np.float32)
    total = cuda.to_device(np.zeros(width, np.float32))
    rows = []
    for k in range(1, 2 * (width // 6), 2):  # a square wave, from its sines
        saxpy_of_numba.forall(width)(1 / k, np.sin(k * t), total)
        rows.append(total.copy_to_host())

    n = 1 << 22
    x, y = cuda.to_device(np.ones(n, np.float32)), cuda.to_device(np.zeros(n, np.float32))
    took = milliseconds(lambda: saxpy_of_numba.forall(n)(0.5, x, y))
    print(f"{n} elements: {took:.3f} ms, {12e-6 * n / took:.0f} GB/s")

    found = np.array(rows)
    save(folder / "saxpy.png", coloured(np.repeat(found, 2, 0)))
    return found


if __name__ == "__main__":
    program(main, 900)
