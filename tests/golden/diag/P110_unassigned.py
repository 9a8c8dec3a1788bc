import numpy as np

import parpy
from parpy import CompileBackend
from parpy.builtin import static_backend_eq


@parpy.jit
def f(x):
    if static_backend_eq(CompileBackend.Cuda):
        width = 4
    x[0] = width


def call():
    f(np.zeros(4), opts=parpy.CompileOptions(backend=CompileBackend.Cpu))
