import numpy as np

import parpy


@parpy.callback
def report(i):
    print(i)


@parpy.jit
def f(x):
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i] = 1.0
        report(i)


def call():
    f(np.zeros(3), opts=parpy.par({"i": parpy.threads(32)}))
