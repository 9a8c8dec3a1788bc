import numpy as np

import parpy


@parpy.jit
def find(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        if x[i] > 1.0:
            y[0] = i
            break


def call():
    find(np.zeros(4), np.zeros(1), opts=parpy.par({"i": parpy.threads(32)}))
