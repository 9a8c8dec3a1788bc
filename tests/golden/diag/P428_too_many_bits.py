import math

import numpy as np

import parpy


@parpy.jit
def f(y, k):
    for i in range(3):
        y[i] = math.factorial(k[i]) if k[i] < 30 else 0


def call():
    f(np.zeros(3), np.array([20, 50, 21]))
