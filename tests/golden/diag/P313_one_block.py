import numpy as np

import parpy


@parpy.jit
def normalize(x):
    parpy.label("i")
    for i in range(x.shape[0]):
        s = 0.0
        parpy.label("j")
        for j in range(x.shape[1]):
            s += x[i, j]
        parpy.label("j")
        for k in range(x.shape[1]):
            x[i, k] /= s


def call():
    opts = parpy.par({"i": parpy.threads(64), "j": parpy.threads(2048)}, backend=parpy.CompileBackend.Cuda)
    return "".join(parpy.explain(normalize, np.zeros((64, 4096)), opts=opts).facts["notes"])
