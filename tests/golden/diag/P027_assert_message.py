import parpy


@parpy.jit
def f(n):
    assert n > 0, n
