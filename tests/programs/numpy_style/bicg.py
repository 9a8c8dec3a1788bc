"""The two products of a biconjugate gradient step."""


def bicg(A, p, r):
    return r @ A, A @ p
