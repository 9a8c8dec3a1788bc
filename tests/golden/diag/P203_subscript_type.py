import numpy as np

import parpy


@parpy.jit
def f(x, n):
    x[n / 2] = 2.0


def call():
    f(np.zeros(4), 4)
