import numpy as np

import parpy


def pair(n):
    a, b = pair(n - 1)
    return b, a


@parpy.jit
def f(x, n):
    a, b = pair(n)
    x[0] = a + b


def call():
    parpy.print_compiled(f, (np.ones(3), 2))
