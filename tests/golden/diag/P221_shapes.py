import numpy as np

import parpy


@parpy.jit
def f(x, y):
    y[:] = x[1:]
    y[:] = x[:] + y[:2]
    y[:] = x[:, None]
    y[0] = y[:] @ x[:2]


def call():
    f(np.zeros(4), np.zeros(5))
