import numpy as np

import parpy


@parpy.jit
def f(x):
    parpy.label("i")
    for i in range(x.shape[0]):
        parpy.label("j")
        for j in range(x.shape[1]):
            x[i, j] = 1.0


def call():
    f(np.zeros((1001, 2)), opts=parpy.par({"j": parpy.threads(32)}, backend=parpy.CompileBackend.Sim))
