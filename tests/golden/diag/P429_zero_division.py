import numpy as np

from parpy import cuda


@cuda.jit(debug=True)
def f(y, k):
    i = cuda.grid(1)
    y[i] = 10 // k[i]


def call():
    before, cuda.sim.enabled = cuda.sim.enabled, True
    try:
        f[1, 4](np.zeros(4), np.array([1, -1, 0, 2]))
    finally:
        cuda.sim.enabled = before
