import numpy as np

import parpy


@parpy.jit
def f(x):
    x[:] += 1.5


def call():
    f(np.zeros(4, int))
