import parpy


@parpy.jit
def f(x, y):
    for i, v in enumerate(x):
        y[i] = v
