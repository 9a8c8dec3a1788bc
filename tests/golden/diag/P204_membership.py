import numpy as np

import parpy


@parpy.jit
def f(x, n):
    if x in (1, 2):
        x[0] = n in x[1]


def call():
    f(np.ones(3), 2)
