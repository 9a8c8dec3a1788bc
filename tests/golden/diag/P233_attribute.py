import numpy as np

import parpy


class Clock:
    steps = 0
    time = 1


@parpy.jit
def f(clock, dt):
    clock.steps += 1
    clock.time += dt


def call():
    f(Clock(), 0.5)
