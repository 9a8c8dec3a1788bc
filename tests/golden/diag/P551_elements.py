import numpy as np

import parpy


@parpy.jit
def f(x):
    for i in range(x.shape[0]):
        x[i] = 1


def call():
    f(np.array([1, 2, None]))
