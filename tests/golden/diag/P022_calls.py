import functools
import math
import parpy


plain = eval("lambda a: a")


def inner(a):
    return a


@functools.wraps(inner)
def wrapped(a):
    return inner(a)


@parpy.jit
def f(x, n):
    x[0] = plain(n)
    x[0] = wrapped(n)
    x[1] = math.fsum(n)
    x[2] = x.sum()
    print(n)
    x[3] = n(1)
