import numpy as np

import parpy


@parpy.jit
def f(x):
    sizes = (3, 4)
    y = np.zeros(sizes)
    for i in range(sizes[0]):
        y[i, 0] = x[i]
    return y


def call():
    f(np.zeros(3))
