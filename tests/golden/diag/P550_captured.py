import numpy as np

import parpy

scale = 1


class Config:
    shift = 1


def call():
    global scale
    k, d = 1, {"q": 1}

    @parpy.jit
    def f(x):
        x[0] = k + d["q"] + scale + Config.shift

    x = np.zeros(1)
    f(x)
    found = []

    def attempt():
        try:
            f(x)
        except parpy.CompileError as error:
            found.append(error)

    k = "text"
    attempt()
    k, d["q"] = 1, "text"
    attempt()
    d["q"], scale = 1, None
    attempt()
    scale, Config.shift = 1, "text"
    attempt()
    error = type(found[0])("\n".join(map(str, found)))
    error.codes = found[0].codes
    raise error
