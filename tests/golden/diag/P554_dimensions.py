import numpy as np

import parpy


@parpy.jit
def f(x):
    x[...] = 1


def call():
    f(np.zeros((1,) * 17))
