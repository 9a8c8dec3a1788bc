import numpy as np

import parpy


@parpy.jit
def f(x):
    for i in range(len(x)):
        x[i] = 1.0


def call():
    f(np.ma.masked_array([1.0, 2.0], [True, False]))
