import numpy as np
import parpy


@parpy.jit
def helper(x):
    np.random.seed(3)
    rng = np.random.default_rng()
    x[0] = rng.random()


@parpy.jit
def f(x, rng):
    other = rng
    for i in range(x.shape[0]):
        x[i] = other.random() + rng.gamma(2.0) + rng
        x[i] = rng.integers(3, dtype=np.int32)
        x[i] = rng.random(dtype=np.float32) + rng.normal(0, 1, 2, 3)
        x[i] = rng.integers(3, 5, endpoint=x[i] > 0)
    x[:] = rng.choice(x, x.shape[0], replace=False)
    x[:] = rng.integers(0, 5, x.shape)
    helper(x)


@parpy.jit
def again(x, rng):
    x[0] = rng.random()
    rng = np.random.default_rng(3)
    x[1] = rng.random()


def call():
    told = []
    for each in (
        lambda: f(np.zeros(3), np.random.default_rng(1), opts=parpy.par({})),
        lambda: again(np.zeros(3), np.random.default_rng(1)),
    ):
        try:
            each()
        except parpy.CompileError as error:
            told.append(str(error))
    return "\n".join(told)
