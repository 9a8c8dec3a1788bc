import parpy


@parpy.jit
def g(a, b):
    return a * b


@parpy.jit
def f(x):
    x[0] = g(1)
    x[1] = g(1, 2, 3)
    x[2] = g(1, c=2)
    x[3] = g(1, a=2)
