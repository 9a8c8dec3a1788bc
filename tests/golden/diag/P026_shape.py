import parpy


@parpy.jit
def f(x, n):
    s = x.shape
    for i in range(n):
        x[i] = x.shape[i]
