import numpy as np

import parpy


@parpy.jit
def f(x, y, n):
    for i in range(n):
        for j in range(n):
            s = y[i:j] @ x[j:i] if i > j else 0.0
            y[0] = s
            y[:] = x[:: i - j]


def call():
    f(np.zeros(4), np.zeros(5), 4)
