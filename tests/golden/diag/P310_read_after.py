import numpy as np

import parpy


@parpy.jit
def f(x):
    parpy.label("i")
    for i in range(x.shape[0]):
        last = x[i]
        x[i] = 2 * last
    x[0] = last


def call():
    f(np.zeros(4), opts=parpy.par({"i": parpy.threads(32)}, backend=parpy.CompileBackend.Cpu))
