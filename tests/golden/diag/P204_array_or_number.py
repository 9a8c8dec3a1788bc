import numpy as np

import parpy


@parpy.jit
def f(x, n):
    x[0] = x + 1
    x[1] = n[0]


def call():
    f(np.zeros(4), 4)
