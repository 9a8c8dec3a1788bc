import numpy as np

import parpy


@parpy.jit
def one(x, i):
    x[i] = 1.0


@parpy.jit
def f(x):
    for i in range(x.shape[0]):
        x[i] = one(x, i) + 1


f(np.ones(3))
