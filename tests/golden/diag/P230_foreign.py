import numpy as np

import parpy
from parpy.types import F64, I64, buffer, symbol


@parpy.external("dot", parpy.CompileBackend.Cpu, parpy.Target.Device)
def dot(x: buffer(F64, [symbol()]), y: buffer(F64, [symbol()]), n: I64) -> F64:
    return np.dot(x, y)


@parpy.jit
def f(x, y, z):
    for i in range(z.shape[0]):
        z[i] = dot(x, y[:, i], z.shape[0])


@parpy.jit
def g(x, y, z):
    for i in range(z.shape[0]):
        z[i] = dot(x, y, z.shape[0])


def call():
    opts = parpy.CompileOptions(backend=parpy.CompileBackend.Cpu)
    a = np.ones((3, 3))
    f(a[0], a, a[1], opts=opts)
