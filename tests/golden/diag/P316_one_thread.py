import numpy as np

import parpy


@parpy.jit
def f(x):
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i] = 1.0


def call():
    opts = parpy.par({}, backend=parpy.CompileBackend.Cuda)
    return "".join(parpy.explain(f, np.zeros(4), opts=opts).facts["notes"])
