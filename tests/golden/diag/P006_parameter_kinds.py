import parpy


@parpy.jit
def f(x, *rest, **options):
    x[0] = 1
