import numpy as np

import parpy


@parpy.jit
def f(x, n):
    t = (n, 2)
    t[0] = 3
    x[0] = t[0]


def call():
    f(np.ones(3), 2)
