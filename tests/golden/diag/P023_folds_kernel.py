from parpy import cuda


@cuda.jit
def f(x):
    x[0] = max(x) + sum(x)


def call():
    f.parse()
