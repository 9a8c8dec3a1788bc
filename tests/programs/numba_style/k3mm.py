"""Three products of matrices."""

import parpy as nb


@nb.njit(parallel=True)
def k3mm(A, B, C, D):
    return A @ B @ C @ D
