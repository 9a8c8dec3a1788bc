import numpy as np

import parpy
from parpy.types import F32


@parpy.external("__expf", parpy.CompileBackend.Cuda, parpy.Target.Device)
def fast_exp(x: F32) -> F32:
    return np.exp(x)


@parpy.jit
def f(x):
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i] = fast_exp(x[i])


def call():
    f(np.ones(3, np.float32), opts=parpy.CompileOptions(backend=parpy.CompileBackend.Cpu))
