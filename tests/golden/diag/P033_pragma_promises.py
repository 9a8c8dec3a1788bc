import numpy as np

import parpy


@parpy.jit
def group(out, data, n):
    #pragma :n=>le(128)
    out[:n] = data[:n]


def call():
    group(np.zeros(200), np.zeros(200), 128)
    group(np.zeros(200), np.zeros(200), 129)
