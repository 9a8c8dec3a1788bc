import parpy


@parpy.jit
def f(x, n):
    for i in range():
        x[i] = 0
    for i in range(0, stop=n):
        x[i] = 0
