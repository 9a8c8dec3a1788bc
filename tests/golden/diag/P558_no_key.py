import numpy as np

import parpy


@parpy.jit
def f(x, sizes):
    for i in range(sizes["n"]):
        x[i] = 1


def call():
    f(np.zeros(3), {"m": 3, "k": 4})
