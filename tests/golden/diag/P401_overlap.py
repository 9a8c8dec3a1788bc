import numpy as np

import parpy


@parpy.jit
def copy(a, b, n):
    parpy.label("i")
    for i in range(n):
        a[i] = b[i]


def call():
    x = np.zeros(10)
    copy(x[1:], x, 9, opts=parpy.par({"i": parpy.threads(8)}))
