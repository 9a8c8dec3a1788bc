import numpy as np

import parpy


@parpy.jit
def sign(a):
    if a > 0:
        return 1.0
    if a < 0:
        return -1.0


@parpy.jit
def f(x):
    for i in range(x.shape[0]):
        x[i] = sign(x[i])


def call():
    f(np.zeros(4))
