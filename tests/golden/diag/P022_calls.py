import math
import parpy


def plain(a):
    return a


@parpy.jit
def f(x, n):
    x[0] = plain(n)
    x[1] = math.fsum(n)
    x[2] = x.sum()
    print(n)
    x[3] = n(1)
