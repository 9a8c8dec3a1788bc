import numpy as np

from parpy import cuda


@cuda.jit
def reverse(x):
    s = cuda.shared.array(100_000, np.float64)
    i = cuda.threadIdx.x
    s[i] = x[i]
    cuda.syncthreads()
    x[i] = s[cuda.blockDim.x - 1 - i]


def call():
    reverse[1, 32](np.zeros(32))
