import numpy as np

import parpy


@parpy.jit
def f(x, y):
    for i in range(x.shape[0]):
        x[i] = y[i]


def call():
    records = np.zeros(3, [("kind", "i1"), ("mass", "f8")])
    f(records["mass"][:-1], records["mass"][1:])
