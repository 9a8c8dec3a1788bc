import numpy as np

import parpy


@parpy.jit
def scatter(a, p, b):
    parpy.label("i")
    for i in range(p.shape[0]):
        b[p[i]] = a[i]


def call():
    scatter(np.zeros(10), np.arange(10), np.zeros(10), opts=parpy.par({"i": parpy.threads(8)}))
