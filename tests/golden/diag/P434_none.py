import numpy as np

import parpy


def place(x, a):
    for i in range(len(x)):
        if x[i] > a:
            return i
    return None


@parpy.jit
def f(x, a):
    k = place(x, a)
    x[k] = 0


def call():
    f(np.ones(3), 2)
