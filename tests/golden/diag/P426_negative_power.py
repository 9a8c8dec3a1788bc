import numpy as np

import parpy


@parpy.jit
def f(y, k):
    for i in range(3):
        y[i] = 2 ** k[i] if k[i] != -1 else 0


def call():
    f(np.zeros(3), np.array([1, -1, -2]))
