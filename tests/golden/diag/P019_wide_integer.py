import numpy as np
import parpy


@parpy.jit
def f(x):
    x[0] = np.uint64(18446744073709551615)
    x[1] = 18446744073709551615
