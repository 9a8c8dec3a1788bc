import numpy as np

import parpy


@parpy.jit
def f(x, y):
    t = x
    for _ in range(3):
        x += 1
        y[:] = t
        t = t * 2


def call():
    f(np.ones(3), np.ones(3), opts=parpy.par({}))
