import numpy as np

import parpy

PAIR = (np.zeros(3), 1)


@parpy.jit
def f(a, b, n):
    for t in range(n):
        for i in range(1, len(a) - 1):
            b[i] = a[i - 1] + a[i + 1]
        a, b = b, a
    u, v = a, b
    p, q = PAIR
    a = c = b


def call():
    f(np.ones(5), np.ones(5), 3)
