import numpy as np

from parpy import cuda


@cuda.jit
def flags(x):
    cuda.atomic.or_(x, 0, 1)


def call():
    flags[1, 32](np.zeros(4))
