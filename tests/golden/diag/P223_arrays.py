import numpy as np

import parpy


@parpy.jit
def h(a):
    return a


@parpy.jit
def f(x, y):
    a = float(x[1, :])
    if x[0, :] > 0:
        y[0] = x[0, :] * 2
    y[1] = y[x[:, 0] @ 2 : 3]
    y[2] = parpy.sum(x[:, :], axis=1)
    y[3] = h(x[1, :]) + h(x[1, :] * 2)


def call():
    f(np.zeros((4, 4)), np.zeros(5))
