import numpy as np

import parpy


@parpy.jit
def f(x, y):
    for i in range(x.shape[0]):
        y[i] = x[i] ** -2


def call():
    f(np.ones(4, np.int64), np.zeros(4))
