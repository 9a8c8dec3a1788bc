import numpy as np

from parpy import cuda


@cuda.jit(debug=True)
def shift(x):
    s = cuda.shared.array(33, np.float64)
    i = cuda.threadIdx.x
    s[i] = x[i]
    cuda.syncthreads()
    x[i] = s[i + 1]


def call():
    shift[1, 32](np.zeros(32))
