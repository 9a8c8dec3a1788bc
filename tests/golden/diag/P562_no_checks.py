import numpy as np

import parpy


@parpy.jit
def f(x):
    x[0] = 1.0


def call():
    f(np.zeros(3), opts=parpy.CompileOptions(backend=parpy.CompileBackend.Cuda, check="all"))
