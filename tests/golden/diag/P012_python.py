import numpy as np

import parpy


@parpy.jit
def f(n):
    for i in range(n):
        x = np.zeros(n)
    else:
        x = np.ones(n)
    return x


def call():
    f(3)
