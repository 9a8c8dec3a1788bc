import numpy as np

from parpy import cuda


@cuda.jit
def total(x):
    i = cuda.threadIdx.x
    if i < 16:
        x[i] += cuda.shfl_down_sync(0xFFFFFFFF, x[i], 8)
    else:
        cuda.syncthreads()


def call():
    total[1, 32](np.zeros(32))
