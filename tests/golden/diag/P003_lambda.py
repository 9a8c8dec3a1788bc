import parpy


f = parpy.jit(lambda x, i: x[i])
