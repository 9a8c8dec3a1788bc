import numpy as np

import parpy


@parpy.jit
def f(x, n):
    return max(x[n:])


def call():
    f(np.ones(3), 3)
