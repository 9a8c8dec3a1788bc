import parpy


@parpy.jit
def f(x, n):
    for d in (1, (2, 3)):
        x[0] = 1
    for a, b in ((1, 2), (3, 4, 5)):
        x[0] = a
    for d in ((1, 2), (n, 4)):
        x[0] = 1
    for d in (*x, "a", None):
        x[0] = 1
