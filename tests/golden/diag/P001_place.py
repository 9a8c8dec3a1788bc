import functools

import parpy


def g(x):
    x[0] = 1


def call():
    found = []
    for function in (len, int, functools.partial(g)):
        try:
            _ = parpy.jit(
                function,
            )
        except TypeError as error:
            found.append(error)
    try:

        @parpy.jit
        class Some:
            pass
    except TypeError as error:
        found.append(error)
    error = type(found[0])("\n".join(map(str, found)))
    error.codes = found[0].codes
    raise error
