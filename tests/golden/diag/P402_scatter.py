import numpy as np

import parpy


@parpy.jit
def scatter(a, p, b, n):
    parpy.label("i")
    for i in range(n):
        b[p[i]] = a[i]


def call():
    opts = parpy.CompileOptions(parallelize={"i": parpy.threads(8)}, legality="strict")
    scatter(np.zeros(10), np.arange(10), np.zeros(10), 10, opts=opts)
