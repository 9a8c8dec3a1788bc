import parpy


@parpy.jit
def f(x, n):
    import no_such_module

    global total
    try:
        x[0] = 1
    except IndexError:
        pass
    del n
    match n:
        case int():
            pass
    def inner(*all):
        pass
    raise ValueError("n", n)
