import numpy as np

import parpy


@parpy.jit
def f(x):
    y = None
    t = (1, 2)
    x[0] = y + 1
    x[1] = y.shape[0]
    x[2] = t
    x[0] = t.ndim


def call():
    f(np.ones(3))
