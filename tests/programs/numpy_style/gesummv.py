"""The sum of two products with a vector."""


def gesummv(alpha, beta, A, B, x):
    return alpha * A @ x + beta * B @ x
