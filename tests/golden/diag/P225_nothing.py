import numpy as np

import parpy


@parpy.jit
def f(x, y):
    y[0] = parpy.max(x[:])


def call():
    f(np.zeros(0), np.zeros(1))
