import numpy as np

import parpy


@parpy.jit
def f(x, n):
    for i in range(x.shape[0]):
        t = np.zeros((3, n))
        x[i] = t.shape[1]


def call():
    f(np.zeros(4), -2)
