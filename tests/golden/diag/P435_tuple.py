import numpy as np

import parpy


@parpy.jit
def f(x, k):
    t = (x[0], 2)
    return t[k]


def call():
    f(np.ones(3), -3)
