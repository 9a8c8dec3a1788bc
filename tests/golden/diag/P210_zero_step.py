import numpy as np

import parpy

STEP = 0


@parpy.jit
def f(x):
    for i in range(0, 4, STEP):
        x[i] = 1.0


def call():
    f(np.zeros(4))
