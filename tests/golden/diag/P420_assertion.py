import numpy as np

import parpy


@parpy.jit
def f(x, n):
    for i in range(n):
        for j in range(i):
            assert x[i] > x[j], "must ascend, {0}"


def call():
    f(np.array([1.0, 2.0, 2.0]), 3, opts=parpy.CompileOptions(backend=parpy.CompileBackend.Cpu, check="bounds"))
