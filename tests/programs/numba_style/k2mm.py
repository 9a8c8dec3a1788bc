"""Two products of matrices in a row."""

import parpy as nb


@nb.jit(nopython=True, parallel=True, fastmath=True)
def k2mm(alpha, beta, A, B, C, D):
    D[:] = alpha * A @ B @ C + beta * D
