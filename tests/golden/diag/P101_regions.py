import numpy as np

import parpy


@parpy.jit
def inner(n):
    y = np.zeros(n)
    for i in range(n):
        y[i] = first_missing
    return y


@parpy.jit
def helper(v):
    return second_missing * v


@parpy.jit
def f(x):
    for i in range(len(x)):
        x[i] = 1
    y = np.zeros(len(x), third_missing)
    for i in range(len(x)):
        y[i] = fourth_missing + helper(x[i])
    z = inner(3)
    for v in z:
        y[0] += helper(v)
    return y


def call():
    x = np.zeros(3)
    try:
        f(x)
    finally:
        assert (x == 0).all()
