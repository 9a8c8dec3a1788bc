import numpy as np

import parpy


@parpy.jit
def f(x, y):
    for i in range(x.shape[0]):
        parpy.label("N")
        row = x[i, 1:]
        y[i] = row[0]


def call():
    f(np.zeros((4, 3)), np.zeros(4))
