import parpy


@parpy.jit
def f(x, n):
    x[0] = (x or n)[0]
    x[1] = x[..., 0]
    x[2] = (x if n > 0 else x)[0]
