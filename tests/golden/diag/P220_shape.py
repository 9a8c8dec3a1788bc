import numpy as np

import parpy


@parpy.jit
def f(x):
    n, m = x.shape
    for i in range(n):
        x[i] = 1.0


def call():
    f(np.zeros(4))
