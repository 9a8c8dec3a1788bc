import numpy as np

import parpy


@parpy.jit
def f(y, x):
    for i in range(3):
        if x[i] > 1.0:
            s = x[i]
        y[i] = s + 1.0


def call():
    checked = parpy.CompileOptions(backend=parpy.CompileBackend.Cpu, check="all")
    f(np.zeros(3), np.array([2.0, 0.0, 1.0]), opts=checked)
    f(np.zeros(3), np.array([1.0, 2.0, 1.0]), opts=checked)
