import parpy


@parpy.jit
def f(x, n):
    for i in range(0, n, 0):
        x[i] = 0
