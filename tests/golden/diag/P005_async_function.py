import parpy


@parpy.jit
async def f(x, n):
    for i in range(n):
        x[i] = 0
