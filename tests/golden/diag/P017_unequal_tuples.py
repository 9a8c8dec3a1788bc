import parpy


@parpy.jit
def f(x):
    a, b = 1, 2, 3
