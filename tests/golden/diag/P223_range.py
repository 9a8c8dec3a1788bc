import numpy as np

import parpy


@parpy.jit
def f(x, n):
    x[0] = range(n)


def call():
    f(np.zeros(3), 2)
