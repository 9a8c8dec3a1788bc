import parpy


@parpy.jit
def f(x, num):
    x[0] = nun
    x[1] = unheard_of(3)
