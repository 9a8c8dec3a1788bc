import numpy as np

import parpy


@parpy.jit
def fill(x, i):
    if i > 2:
        return
    parpy.label("j")
    for j in range(x.shape[1]):
        x[i, j] = 1.0


@parpy.jit
def f(x):
    for i in range(x.shape[0]):
        fill(x, i)


def call():
    f(np.zeros((4, 8)), opts=parpy.par({"j": parpy.threads(32)}))
