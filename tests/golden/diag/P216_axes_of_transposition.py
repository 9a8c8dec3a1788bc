import numpy as np

import parpy


@parpy.jit
def f(x, y):
    for i in range(x.shape[0]):
        y[i] = np.sum(np.transpose(x, (0, 0)))


def call():
    f(np.ones((2, 2)), np.zeros(2))
