import numpy as np

import parpy


@parpy.jit
def shift(a, b, n):
    for i in range(n):
        b[i] = a[i + 1]


def call():
    shift(np.zeros(10), np.zeros(10), 10)
