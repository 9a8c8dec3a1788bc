import numpy as np

import parpy


@parpy.jit
def filtered(a, n):
    last = 0.0
    #pragma parallel for
    for i in range(n):
        last = 0.5 * last + a[i]
        a[i] = last
    return last


def call():
    filtered(np.zeros(10), 10)
