import numpy as np
import parpy


@parpy.jit
def f(x):
    x[0] = np.uint64(18446744073709551615)
    x[1] = 18446744073709551615
    x[2] = x[2] + 10**20
    x[3] = (1 << 70) >> 60
    x[4] = -(1 << 5000) % 7
