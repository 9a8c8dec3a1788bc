import numpy as np

import parpy


def f(x):
    for i in range(x.shape[0]):
        x[i] = 0


def call():
    opts = parpy.CompileOptions(backend=parpy.CompileBackend.Cpu)
    parpy.compile_string("f", parpy.print_compiled(f, [np.ones(3)], opts))(np.ones(4))
