import parpy


@parpy.jit
def f(x, y):
    y[0] = x.base
