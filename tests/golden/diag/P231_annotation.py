import numpy as np

import parpy
from parpy.types import F32, I32, buffer, symbol

N = symbol("N")


@parpy.jit
def f(x: buffer(F32, [N]), y: buffer(F32, [N]), k: I32):
    for i in range(N):
        y[i] = k * x[i]


def call():
    f(np.ones(3, np.float32), np.ones(3), 1.5)
