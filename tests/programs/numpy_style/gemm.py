"""A scaled product of matrices, added to another."""


def gemm(alpha, beta, C, A, B):
    C[:] = alpha * A @ B + beta * C
