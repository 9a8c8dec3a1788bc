import numpy as np

import parpy


@parpy.jit
def f(x, y):
    for i in range(x.shape[0]):
        y[i] = 2 * x[i]


def call():
    y = np.zeros(4)
    y.flags.writeable = False
    f(np.ones(4), y)
