import numpy as np

import parpy


@parpy.jit
def f(x, z):
    for i in range(x.shape[0]):
        x[i] = z[i] * 2


def call():
    f(np.zeros(4), np.zeros(4, np.complex128))
