import parpy


@parpy.jit
def f(x, n):
    for i in range(n):
        if x[i] == 0:
            break
    else:
        x[0] = 1
