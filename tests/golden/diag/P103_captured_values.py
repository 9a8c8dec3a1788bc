import math

import parpy


names = ["a", "b"]


@parpy.jit
def g(a):
    return a


@parpy.jit
def f(x):
    x[0] = names
    x[1] = g
    x[2] = math
    x[3] = names[0]
