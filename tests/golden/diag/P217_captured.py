import numpy as np

import parpy

PAIR = (np.zeros(3), 1)


@parpy.jit
def f(a):
    p, q = PAIR
    a[0] = q


def call():
    f(np.ones(5))
