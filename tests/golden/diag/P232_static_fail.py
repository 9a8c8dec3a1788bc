import numpy as np

import parpy
from parpy.builtin import static_fail, static_types_eq
from parpy.types import F32


@parpy.jit
def f(x):
    if static_types_eq(x.dtype, F32):
        x[0] = 1
    else:
        static_fail("only float32 is supported")


def call():
    f(np.ones(3))
