import math
import numpy as np
import parpy


@parpy.jit
def f(x, n):
    x[0] = math.sqrt(n, 2)
    x[1] = max()
    x[2] = np.exp(n, dtype=np.float32)
    x[3] = round(n, n)
    x[4] = np.round(x[0] + n, -30)
