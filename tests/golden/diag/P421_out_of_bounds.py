import numpy as np

import parpy


@parpy.jit
def f(y, x, k):
    for i in range(2):
        for j in range(3):
            y[i, j] = x[k[j], i] if j > 0 else 0.0


def call():
    checked = parpy.CompileOptions(backend=parpy.CompileBackend.Cpu, check="bounds")
    f(np.zeros((2, 3)), np.zeros((4, 2)), np.array([9, -4, -5]), opts=checked)
