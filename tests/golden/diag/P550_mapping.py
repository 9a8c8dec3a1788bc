import parpy


def call():
    x = 1, parpy.par({"i": 3, "j": parpy.threads(2)})
    return x
