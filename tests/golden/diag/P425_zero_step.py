import numpy as np

import parpy


@parpy.jit
def f(y, steps):
    for i in range(3):
        for j in range(0, 10, steps[i]):
            y[i] += j


def call():
    f(np.zeros(3), np.array([1, 2, 0]))
