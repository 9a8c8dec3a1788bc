import parpy


@parpy.jit
def f(x, n):
    x[0] = (1, n).shape[0]
    x[1] = (1, n).ndim
