import math
import tempfile
from pathlib import Path

import numpy as np

import parpy
from parpy.types import F64

folder = Path(tempfile.mkdtemp())
(folder / "my_gamma.h").write_text('extern "C" double my_gamma(double x);\n')


@parpy.external("my_gamma", parpy.CompileBackend.Cpu, parpy.Target.Device, header="my_gamma.h")
def my_gamma(x: F64) -> F64:
    return math.gamma(x)


@parpy.jit
def f(x):
    for i in range(x.shape[0]):
        x[i] = my_gamma(x[i])


def call():
    f(np.ones(4), opts=parpy.CompileOptions(backend=parpy.CompileBackend.Cpu, includes=[str(folder)]))
