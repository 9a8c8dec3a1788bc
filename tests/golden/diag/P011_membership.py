import parpy


@parpy.jit
def f(x, n):
    x[0] = 0 < n in (1, 2)
    x[1] = n in ((1, 2), 3)
    x[2] = n in x.shape
    x[3] = n in range(3)
