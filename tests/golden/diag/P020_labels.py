import parpy


@parpy.jit
def f(x, n):
    parpy.label("i")
    x[0] = 1
    parpy.label("j")
    parpy.label("k")
    for i in range(n):
        x[i] = parpy.label("m")
    parpy.label(n)
    for i in range(n):
        parpy.label("last")
