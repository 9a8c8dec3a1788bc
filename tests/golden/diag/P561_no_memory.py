import numpy as np

import parpy


@parpy.jit
def shift(x):
    parpy.label("i")
    x[1:] = x[:-1]


def call():
    endless = np.lib.stride_tricks.as_strided(np.zeros(1), (2**45,), (0,))
    opts = parpy.CompileOptions(backend=parpy.CompileBackend.Cpu, parallelize={"i": parpy.threads(4)}, legality="trust")
    shift(endless, opts=opts)
