import numpy as np

import parpy


@parpy.jit
def f(x, n):
    t = (n, 2)
    if x[0] > 1:
        t = 3
    x[0] = t


def call():
    f(np.ones(3), 2)
