import numpy as np

import parpy


class State:
    def __init__(self):
        self.u, self.bounds = np.zeros(4), (0, 1)


@parpy.jit
def f(state):
    state.u = state.u * 2
    state.bounds = (1, 2)


def call():
    f(State())
