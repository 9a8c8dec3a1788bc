import numpy as np

import parpy


@parpy.jit
def differences(x, y):
    before = 0.0
    parpy.label("i")
    for i in range(x.shape[0]):
        y[i] = x[i] - before
        before = x[i]


def call():
    differences(np.zeros(4), np.zeros(4), opts=parpy.par({"i": parpy.threads(32)}))
