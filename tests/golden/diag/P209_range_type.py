import numpy as np

import parpy


@parpy.jit
def f(x, n):
    for i in range(n / 2):
        x[i] = 1.0


def call():
    f(np.zeros(4), 4)
