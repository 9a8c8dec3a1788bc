from parpy import cuda


@cuda.jit
def f(x):
    x[0] = 1 in x


def call():
    f.parse()
