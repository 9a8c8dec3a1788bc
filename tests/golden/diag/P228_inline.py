import numpy as np

import parpy
from parpy.builtin import inline


@parpy.jit
def sign(v):
    if v < 0:
        return -1.0
    return 1.0


@parpy.jit
def f(x):
    x[0] = inline(sign(x[0]))


def call():
    f(np.zeros(4), opts=parpy.par({}))
