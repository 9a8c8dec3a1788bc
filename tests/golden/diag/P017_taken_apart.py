import numpy as np

import parpy


@parpy.jit
def f(x):
    a, b, c = divmod(x[0], 2)
    d, (e, g) = 1, x[0]
    x[0] = a + b + c + d + e + g


def call():
    f(np.ones(3))
