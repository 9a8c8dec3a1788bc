import parpy


@parpy.jit
def g(a, mode=[]):
    return a


@parpy.jit
def f(x):
    x[0] = g(1)
