"""The product of a matrix, transposed, with itself and a vector."""

import parpy as nb


@nb.jit(nopython=True, parallel=True, fastmath=True)
def atax(A, x):
    return (A @ x) @ A
