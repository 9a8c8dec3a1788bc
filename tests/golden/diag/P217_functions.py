import numpy as np

import parpy


def half(v):
    return v / 2


def third(v):
    return v / 3


@parpy.jit
def f(x, mode):
    g = half if x[0] > 1 else third
    x[0] = g(x[1])
    if x[1] > 0:
        h = half
    x[1] = h(x[1])
    if x[1] > 1:
        mode = "max"
    if mode == "sum":
        x[1] = 0.0


def call():
    f(np.ones(3), "sum")
