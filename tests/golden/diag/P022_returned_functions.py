import numpy as np

import parpy


@parpy.jit
def f(x, k):
    def scaled():
        return lambda v: v * k

    g = scaled()
    k = 5.0
    x[0] = g(1.0)


def call():
    f(np.ones(3), 2.0, opts=parpy.par({}))
