import numpy as np

from parpy import cuda


@cuda.jit(device=True)
def sign(a):
    if a > 0:
        return 1.0
    if a < 0:
        return -1.0


@cuda.jit
def f(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = sign(x[i])


def call():
    f[1, 32](np.zeros(4))
