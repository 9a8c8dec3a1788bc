import numpy as np

import parpy


@parpy.jit
def f(x):
    with parpy.gpu:
        y = np.zeros(3)
        y[0] = x[0]
    return y


def call():
    f(np.zeros(3))
