import numpy as np

import parpy


@parpy.jit
def double(x, i):
    x[i] *= 2


@parpy.jit
def f(x):
    x[0] = double(x, 1) + 1


def call():
    f(np.zeros(4))
