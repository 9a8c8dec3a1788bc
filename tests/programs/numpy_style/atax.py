"""The product of a matrix, transposed, with itself and a vector."""


def atax(A, x):
    return (A @ x) @ A
