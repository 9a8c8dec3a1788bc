import numpy as np

import parpy


@parpy.jit
def f(x, n):
    n = max(x) + max(n)


def call():
    f(np.ones((2, 3)), 3)
