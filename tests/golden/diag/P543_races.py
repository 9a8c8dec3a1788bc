import numpy as np

from parpy import cuda


@cuda.jit(debug=True)
def reverse(x):
    s = cuda.shared.array(32, np.float64)
    i = cuda.threadIdx.x
    s[i] = x[i]
    x[i] = s[31 - i]


def call():
    reverse[1, 32](np.zeros(32))
