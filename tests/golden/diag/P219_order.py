import numpy as np

import parpy


@parpy.jit
def shifted(x):
    x[0] += 1
    return x[0]


@parpy.jit
def f(x, y):
    y[:] = x[:] * 2 + shifted(x)


def call():
    f(np.zeros(4), np.zeros(4), opts=parpy.par({}))
