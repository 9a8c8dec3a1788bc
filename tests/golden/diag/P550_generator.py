import numpy as np
import parpy


@parpy.jit
def f(x, rng):
    for i in range(x.shape[0]):
        x[i] = rng.random()


def call():
    f(np.zeros(3), 7)
