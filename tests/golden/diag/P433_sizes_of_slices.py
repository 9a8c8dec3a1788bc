import numpy as np

import parpy


@parpy.jit
def f(x, y, k):
    for i in range(k.size):
        m = k[i]
        y[:m] = x[m:]


def call():
    f(np.zeros(4), np.zeros(5), np.array([2, 3]))
