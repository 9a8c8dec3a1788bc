import numpy as np

import parpy


@parpy.jit
def depth(n):
    return depth(n - 1) + 1


@parpy.jit
def f(x, n):
    x[0] = depth(n)


def call():
    f(np.zeros(4), 4)
