import numpy as np

import parpy


@parpy.jit
def normalize(x, sums):
    parpy.label("i")
    for i in range(x.shape[0]):
        if sums[i] > 0:
            parpy.label("j")
            for j in range(x.shape[1]):
                x[i, j] /= sums[i]


def call():
    opts = parpy.par({"i": parpy.threads(64), "j": parpy.threads(2048)}, backend=parpy.CompileBackend.Cuda)
    return "".join(parpy.explain(normalize, np.zeros((64, 4096)), np.zeros(64), opts=opts).facts["notes"])
