import numpy as np

import parpy


@parpy.jit
def f(x, y):
    y[0] = x[x > 4].max()


def call():
    f(np.ones(3), np.zeros(1))
