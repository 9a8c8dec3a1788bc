import parpy


@parpy.jit
def f(x, n):
    a = n + [1, 2]
    b = (i for i in range(n))
    c = lambda *all: 0
    if (d := n) > 0:
        x[0] = d
    x[1] = f"{n}"
    x[2] = n is None
    x[3] = x @ x
    e = 1, 2
    x[4] = n * [i for i in range(n)]
