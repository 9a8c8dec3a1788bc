import numpy as np

import parpy


@parpy.jit
def f(x, k):
    for i in range(x.shape[0]):
        x[i] = k


def call():
    f(np.zeros(3), 2**70)
