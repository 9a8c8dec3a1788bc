import numpy as np

import parpy


@parpy.jit
def f(y, p, n):
    for t in range(2):
        parpy.label("i")
        for i in range(n):
            y[i] = 1.0
            y[p[i]] *= 2.0


def call():
    mapping = {"i": parpy.threads(4)}
    checked = parpy.CompileOptions(backend=parpy.CompileBackend.Cpu, check="races", parallelize=mapping)
    f(np.zeros(4), np.array([0, 1, 2, 1]), 4, opts=checked)
