import numpy as np

import parpy


def f(x):
    for i in range(x.shape[0]):
        x[i] = 1.0


def call():
    opts = parpy.CompileOptions(backend=parpy.CompileBackend.Cpu)
    text = parpy.print_compiled(f, [np.zeros(4)], opts)
    parpy.compile_string("f", text.replace("x[i] = 1.0;", "x[i] = one;"))
