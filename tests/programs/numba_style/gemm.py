"""A scaled product of matrices, added to another."""

import parpy as nb


@nb.jit(nopython=True, parallel=True, fastmath=True)
def gemm(alpha, beta, C, A, B):
    C[:] = alpha * A @ B + beta * C
