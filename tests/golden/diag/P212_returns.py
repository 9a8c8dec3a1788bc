import numpy as np

from parpy import cuda


@cuda.jit
def double(x):
    i = cuda.grid(1)
    x[i] *= 2
    return x[i]


def call():
    double[1, 4](np.zeros(4))
