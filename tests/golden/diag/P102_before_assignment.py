import parpy


scale = 2.0


@parpy.jit
def f(x, n):
    for i in range(n):
        s += x[i]
    x[0] = scale * s
    scale = 1.0
