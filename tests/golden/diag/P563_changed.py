import numpy as np

import parpy


def f(x):
    for i in range(x.shape[0]):
        x[i] = 1.0


def call():
    text = parpy.print_compiled(f, [np.zeros(4)], parpy.CompileOptions(backend=parpy.CompileBackend.Cpu))
    parpy.compile_string("f", text.replace("f64[4]", "f64[8]"))
