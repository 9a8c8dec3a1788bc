import parpy


@parpy.jit
def f(x, n):
    x[0] = max(())
    x[1] = min(x, default=3)
    x[2] = sum(x, 1, start=2)
    x[0].fill(n)
