import numpy as np

import parpy


@parpy.jit
def f(x):
    for i in range(len(x)):
        x[i] = 1.0


def call():
    f(iter([1.0, 2.0]))
