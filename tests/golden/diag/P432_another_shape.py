import numpy as np
import parpy


@parpy.jit
def f(x, m):
    kept = x[m]
    return kept * 2


def call():
    f(np.ones(4), np.ones(5, bool))
