import parpy


def g(x):
    return x


# As if line 4 had been edited after the import.
f = parpy.jit(type(g)(g.__code__.replace(co_name="f", co_varnames=("y",)), {}))
