# driver: cuCtxSynchronize 700
import numpy as np

import parpy
from parpy import cuda


@parpy.jit
def scatter(x, p):
    parpy.label("i")
    for i in range(p.shape[0]):
        x[p[i]] = i


def call():
    opts = parpy.par({"i": parpy.threads(32)}, backend=parpy.CompileBackend.Cuda)
    scatter(cuda.to_device(np.zeros(4)), cuda.to_device(np.full(4, 10_000_000)), opts=opts)
    cuda.synchronize()
