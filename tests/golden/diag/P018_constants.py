import parpy


@parpy.jit
def f(x):
    x[1] = "one"
    x[2] = b"two"
