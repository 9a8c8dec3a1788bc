import numpy as np

import parpy


@parpy.jit
def f(x):
    with parpy.gpu:
        x[0] = 1
        return x


def call():
    f(np.zeros(3))
