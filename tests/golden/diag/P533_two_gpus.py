# driver: as it is
import numpy as np

import parpy
from parpy import cuda


@parpy.jit
def add(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i] += y[i]


def call():
    x = cuda.to_device(np.ones(512))
    with cuda.gpus[1]:
        y = cuda.to_device(np.ones(512))
    add(x, y, opts=parpy.par({"i": parpy.threads(512)}, backend=parpy.CompileBackend.Cuda))
