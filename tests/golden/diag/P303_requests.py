import numpy as np

import parpy


@parpy.jit
def f(x):
    parpy.label("i")
    for i in range(x.shape[0]):
        parpy.label("j")
        for j in range(x.shape[1]):
            x[i, j] = 1.0


def call():
    f(np.zeros((4, 8)), opts=parpy.par({"i": parpy.threads(4).tpb(64), "j": parpy.threads(8).tpb(128)}))
