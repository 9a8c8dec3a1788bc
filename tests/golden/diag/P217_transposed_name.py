import numpy as np

from parpy import cuda


@cuda.jit
def f(x, y):
    i = cuda.grid(1)
    t = x.T
    t[0, i] = y[i]


def call():
    f[1, 2](np.ones((2, 2)), np.zeros(2))
