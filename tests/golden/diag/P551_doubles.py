import numpy as np

import parpy


@parpy.jit
def f(x):
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i] = 1


def call():
    opts = parpy.par({"i": parpy.threads(32)}, backend=parpy.CompileBackend.Metal)
    parpy.print_compiled(f, [np.zeros(3)], opts)
