# driver: cuInit 100
import numpy as np

import parpy


@parpy.jit
def f(x):
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i] = 1.0


def call():
    f(np.zeros(4), opts=parpy.par({"i": parpy.threads(32)}, backend=parpy.CompileBackend.Cuda))
