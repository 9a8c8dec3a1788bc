import numpy as np

import parpy


@parpy.jit
def normalize(a, b, M, N):
    #pragma parallel for
    for i in range(M):
        t = np.exp(a[i, :N])
        b[i, :N] = t / np.sum(t)


def call():
    normalize(np.ones((2, 20_000)), np.zeros((2, 20_000)), 2, 20_000)
