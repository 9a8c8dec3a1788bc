import numpy as np

import parpy


@parpy.jit
def f(x, y):
    for i in range(x.shape[0]):
        t = x[i] * 2.0
        if i == 0 or t[0] > 1.0:
            kept = t
        kept[0] = y[i]
        y[i] = t[0]


def call():
    f(np.ones((4, 4)), np.zeros(4), opts=parpy.par({}))
