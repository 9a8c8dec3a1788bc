"""Three products of matrices."""


def k3mm(A, B, C, D):
    return A @ B @ C @ D
