import numpy as np

import parpy


@parpy.jit
def f(x, y):
    for a in (x, y):
        a[0] = 1


def call():
    f(np.ones(3), np.ones(4))
