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
    mapping = {"i": parpy.threads(100_000), "j": parpy.threads(100_000_000)}
    f(np.zeros((4, 8)), opts=parpy.par(mapping, backend=parpy.CompileBackend.Sim))
