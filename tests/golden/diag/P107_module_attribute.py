import math
import numpy as np
import parpy


@parpy.jit
def f(x, n):
    x[0] = math.sqr(n)
    x[1] = np.float128_that_is_not
