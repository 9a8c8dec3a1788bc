import numpy as np

import parpy

T = (1, (2, 3), np.arange(3))


class Sizes:
    @property
    def both(self):
        return (1, 2)


sizes = Sizes()


@parpy.jit
def f(x, n):
    x[0] = T[n]
    x[1] = T[1][-3]
    x[2] = T[1:]
    T[0] = n
    T[1][0] += n
    x[3] = T[1] + T
    x[4] = sizes.both[0]
    x[5] = T[0][1]
    a, b = T
