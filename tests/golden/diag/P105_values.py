import numpy as np

import parpy


def scaled(v, k=2):
    return v * k


@parpy.jit
def f(g, x):
    x[0] = g(1, 2, 3)
    x[1] = g(1, factor=2)
    x[2] = g(k=2)
    x[0] = g(1, v=2)


def call():
    f(scaled, np.ones(3))
