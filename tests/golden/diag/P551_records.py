import numpy as np

import parpy


@parpy.jit
def f(x):
    for i in range(x.shape[0]):
        x[i] = 1


def call():
    f(np.zeros(3, [("mass", "f8"), ("charge", "f8")]), opts=parpy.par({}))
