import numpy as np

import parpy


@parpy.jit
def f(x):
    for j in range(x.shape[1]):
        x[j] = 0.0
    x[0] = parpy.sum(x[:], axis=1)


def call():
    f(np.zeros(4))
