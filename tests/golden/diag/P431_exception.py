import numpy as np

import parpy


@parpy.jit
def f(x):
    for i in range(x.shape[0]):
        if x[i] < 0:
            raise ValueError(f"element {i} is {x[i]}")


def call():
    f(np.array([1.0, -2.5]))
