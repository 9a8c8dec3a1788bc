import parpy


@parpy.jit
def f(d, x):
    x[0] = d["a"][0] + d[0]
    y = 1
    x[1] = y["a"]
