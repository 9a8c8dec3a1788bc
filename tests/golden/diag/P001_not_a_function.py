import parpy


f = parpy.jit(print)
