import parpy


namespace = {}
exec(compile("def f(n):\n    return n\n", "<typed>", "exec"), namespace)
f = parpy.jit(namespace["f"])
