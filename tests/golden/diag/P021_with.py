import parpy


@parpy.jit
def f(x):
    with open("x") as file:
        x[0] = 1
    with parpy.gpu as g:
        x[0] = 1
