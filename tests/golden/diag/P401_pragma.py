import numpy as np

import parpy


@parpy.jit
def recurrence(a, b, n):
    #pragma parallel for simd
    for i in range(1, n):
        a[i] = a[i - 1] + 1
        b[i] = 2 * b[i]


def call():
    recurrence(np.zeros(10), np.zeros(10), 10)
