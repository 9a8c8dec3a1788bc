import numpy as np

import parpy


class Clock:
    steps = 0
    time = np.float32(1)


@parpy.jit
def f(clock, dt):
    clock.steps += 1
    clock.time += dt


def call():
    f(Clock(), np.float64(0.5), opts=parpy.par({}))
