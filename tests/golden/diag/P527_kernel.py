import numpy as np

import parpy


def f(x):
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i] = 1.0


def call():
    opts = parpy.par({"i": parpy.threads(32)}, backend=parpy.CompileBackend.Sim)
    text = parpy.print_compiled(f, [np.zeros(4)], opts)
    run = parpy.compile_string("f", text.replace("parpy_launch(context, 0,", "parpy_launch(context, 1,"), opts)
    run(np.zeros(4))
