import parpy


def call():
    opts = parpy.CompileOptions()
    opts.parallelize = {3: parpy.threads(3)}
