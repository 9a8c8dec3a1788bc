import numpy as np

import parpy


@parpy.jit
def f(x, y):
    for i in range(x.shape[0]):
        t = x.T
        t[0, i] = y[i]


def call():
    f(np.ones((2, 2)), np.zeros(2))
