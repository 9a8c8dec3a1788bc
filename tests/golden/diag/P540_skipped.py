import numpy as np

from parpy import cuda


@cuda.jit(debug=True)
def reverse(x):
    s = cuda.shared.array(64, np.float64)
    i = cuda.threadIdx.x
    if i >= len(x):
        return
    s[i] = x[i]
    cuda.syncthreads()
    x[i] = s[len(x) - 1 - i]


def call():
    reverse[1, 64](np.zeros(40))
