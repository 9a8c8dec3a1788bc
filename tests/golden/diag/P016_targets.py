import parpy


@parpy.jit
def f(x, d, n):
    x.flags = 1
    a, *b = 1, 2, 3
    for x[0] in range(n):
        pass
    d["out"] = 1
