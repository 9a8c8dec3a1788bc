import numpy as np

import parpy
from parpy import cuda


@parpy.jit
def f(x):
    for i in range(x.shape[0]):
        x[i] = cuda.threadIdx.x
        cuda.syncthreads()


def call():
    f(np.zeros(4))
