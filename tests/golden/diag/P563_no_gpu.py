# environment: PARPY_CUDA_DRIVER=libcuda.so.none
import numpy as np

import parpy


def f(x):
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i] = 1.0


def call():
    opts = parpy.par({"i": parpy.threads(32)}, backend=parpy.CompileBackend.Cuda)
    parpy.compile_string("f", parpy.print_compiled(f, [np.zeros(4)], opts), opts)
