import parpy
import parpy.appy as appy


@parpy.jit
def f(a, n):
    a[0] = appy.vidx(0, 4, n)
    w = appy.vidx(0)
    a[w] = 1
    u = appy.vidx(0, 4, n, 1)
    a[u] = 1
    t = appy.vidx(0, 4, end=n)
    a[t] = 1
