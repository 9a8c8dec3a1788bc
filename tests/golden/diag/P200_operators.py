import numpy as np

import parpy


@parpy.jit
def f(x, z):
    x[0] = x[1] & 3
    x[1] = 1j < 2j
    x[2] = z[0] // 2


def call():
    f(np.zeros(4), np.zeros(2, np.complex128))
