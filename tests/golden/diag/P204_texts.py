import numpy as np

import parpy


@parpy.jit
def f(x, mode, g):
    x[0] = g(mode) + 1
    for i in range(2):
        made = np.zeros(2, dtype=mode)
        x[i] = made[0]


def call():
    f(np.ones(3), "sum", lambda text: text)
