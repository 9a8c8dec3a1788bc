import numpy as np

import parpy


@parpy.jit
def f(x, y):
    for i in range(x.shape[0]):
        t = x.T
        if i > 0:
            t = x.reshape(2, 2)
        x[0, i] = 1
        y[i] = t[i, 0]


def call():
    f(np.ones((2, 2)), np.zeros(2), opts=parpy.par({}))
