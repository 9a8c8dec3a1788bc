import numpy as np

import parpy


@parpy.jit
def smooth(a, n):
    parpy.label("i")
    for i in range(1, n - 1):
        a[i] = (a[i - 1] + a[i] + a[i + 1]) / 3


def call():
    smooth(np.zeros(10), 10, opts=parpy.par({"i": parpy.threads(8)}))
