# driver: capturing
import numpy as np

import parpy
from parpy import cuda


@parpy.jit
def normalize(x):
    s = 0.0
    parpy.label("i")
    for i in range(x.shape[0]):
        s += x[i]
    if s > 0.0:
        parpy.label("i")
        for j in range(x.shape[0]):
            x[j] /= s


def call():
    normalize(cuda.to_device(np.ones(512)), opts=parpy.par({"i": parpy.threads(512)}, backend=parpy.CompileBackend.Cuda))
