import numpy as np

import parpy


@parpy.jit
def f(x):
    parpy.label("i")
    for i in range(1, x.shape[0]):
        x[i] = 1.0
    x[0] = 2.0


def call():
    f(np.zeros(4), opts=parpy.par({"i": parpy.threads(32)}, backend=parpy.CompileBackend.Sim))
