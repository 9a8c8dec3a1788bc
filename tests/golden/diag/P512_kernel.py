import tempfile
from pathlib import Path

import numpy as np

from parpy import cuda

file = Path(tempfile.mkdtemp()) / "gammas.cu"
file.write_text("""
__device__ float stirling(float);
extern "C" __device__ float my_gamma(float x) { return stirling(x); }
""")
my_gamma = cuda.declare_device("my_gamma", "float32(float32)", link=file)


@cuda.jit
def gammas(x):
    i = cuda.grid(1)
    x[i] = my_gamma(x[i])


def call():
    gammas[1, 4](np.ones(4, np.float32))
