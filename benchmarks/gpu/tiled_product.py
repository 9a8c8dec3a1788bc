"""A matrix product in tiles that threads load together: a kernel for parpy.cuda and for numba.cuda."""

from __future__ import annotations

from typing import Any

T = 16  # rows and columns of a tile, and of a block


def tiled_product(cuda: Any, kind: Any) -> Any:
    """c = a @ b under one of the two `cuda` modules, for arrays of `kind`; T divides their extents."""

    @cuda.jit
    def matmul(a, b, c):
        sa = cuda.shared.array((T, T), kind)
        sb = cuda.shared.array((T, T), kind)
        x, y = cuda.grid(2)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        total = kind(0)
        for i in range(a.shape[1] // T):
            sa[ty, tx] = a[y, tx + i * T]
            sb[ty, tx] = b[ty + i * T, x]
            cuda.syncthreads()
            for k in range(T):
                total += sa[ty, k] * sb[k, tx]
            cuda.syncthreads()
        c[y, x] = total

    return matmul
