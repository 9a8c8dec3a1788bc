import numpy as np

import parpy


@parpy.jit
def depth(n):
    if n == 0:
        return 0
    return 1 + depth(n - 1)


@parpy.jit
def f(y, n):
    y[0] = depth(n)


def call():
    f(np.zeros(1), 10**9)
