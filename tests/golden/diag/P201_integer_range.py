import numpy as np

import parpy


@parpy.jit
def f(x):
    for i in range(x.shape[0]):
        x[i] = 300


def call():
    f(np.zeros(4, np.uint8))
