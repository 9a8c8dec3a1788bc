import numpy as np

import parpy


@parpy.jit
def f(x):
    y = np.zeros(3)
    with parpy.gpu:
        y[0] = x[0]
        return y


def call():
    f(np.zeros(3))
