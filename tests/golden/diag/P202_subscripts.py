import numpy as np

import parpy


@parpy.jit
def f(x):
    x[0, 1] = 2.0


def call():
    f(np.zeros(4))
