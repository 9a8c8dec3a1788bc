import numpy as np

import parpy


@parpy.jit
def scatter(x, p):
    parpy.label("i")
    for i in range(p.shape[0]):
        x[p[i]] = i


def call():
    opts = parpy.par({"i": parpy.threads(32)}, backend=parpy.CompileBackend.Sim)
    scatter(np.zeros(4), np.array([0, 2**60]), opts=opts)
