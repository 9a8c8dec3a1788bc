"""Reductions and contractions of slices: every back end gives NumPy's results."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import BACKENDS, TARGETS, options, run
from slices import check, ints, rng

pytestmark = pytest.mark.gpu  # check() runs on every back end

# ---------------------------------------------------------------- reductions


@parpy.jit
def sum_rows(x, y):
    parpy.label("N")
    parpy.label("M")
    y[:] = parpy.sum(x[:, :], axis=1)


@parpy.jit
def sum_all(x, y):
    parpy.label("N")
    parpy.label("M")
    y[0] = parpy.sum(x[:, :])


@parpy.jit
def normalize(x, y):
    parpy.label("N")
    parpy.label("M")
    y[:] = x[:] / parpy.sum(x[:])


@parpy.jit
def softmax(x, n):
    parpy.label("N")
    for i in range(n):
        parpy.label("M")
        parpy.label("K")
        x[i, :] = parpy.math.exp(x[i, :] - parpy.max(x[i, :]))
        parpy.label("M")
        parpy.label("K")
        x[i, :] /= parpy.sum(x[i, :])


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (5, 40), (3, 0)])
def test_sum_rows(shape):
    check(sum_rows, (ints(*shape), ints(shape[0])), {"N": 5, "M": 64})


@pytest.mark.parametrize("mapping", [{"M": 64}, {"N": 4, "M": 64}, {"N": 2, "M": 2048}])
def test_sum_all(mapping):
    check(sum_all, (ints(9, 70), ints(3)), mapping)


def test_reduction_in_an_expression():
    check(normalize, (rng.random(100) + 1, ints(100)), {"N": 64, "M": 64}, 1e-12)


def test_softmax():
    check(softmax, (ints(4, 70), 4), {"N": 4, "M": 32, "K": 32}, 1e-12)


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "any", "all", "mean"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1), (2, 0), (-1, 1)])
def test_axes(name, axis):
    space = {"parpy": parpy}
    kept = 3 - (3 if axis is None else len(axis) if isinstance(axis, tuple) else 1)
    target = f"y[{', '.join(':' * kept)}]" if kept else "y[0]"
    text = f"def f(x, y):\n    {target} = parpy.{name}(x[:, :, :], axis={axis})\n"
    import linecache

    linecache.cache["axes.py"] = (len(text), None, text.splitlines(True), "axes.py")
    exec(compile(text, "axes.py", "exec"), space)
    x = ints(3, 4, 5)
    y = np.zeros(np.sum(x, axis=axis).shape or (1,))
    check(parpy.jit(space["f"]), (x, y), tolerance=1e-12, on=("eval", "cpu"))


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "any", "all", "mean"])
@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.float16, np.float32, bool])
def test_types_of_reductions(name, dtype):
    reduction = getattr(parpy, name)

    @parpy.jit
    def f(x, y):
        y[:] = reduction(x[:, :], axis=0)

    x = rng.integers(0, 3, (20, 6)).astype(dtype)
    result = reduction(x, axis=0)
    half = 1e-3 if dtype == np.float16 else 1e-6
    check(
        f,
        (x, np.zeros(6, result.dtype)),
        tolerance=half if name in ("mean", "sum", "prod") else 0.0,
        on=("eval", "cpu"),
    )
    check(f, (x, np.zeros(6, np.complex128)), tolerance=half, on=("eval", "cpu"))


@parpy.jit
def keeping(x, y):
    y[:, :] = x[:, :] - np.mean(x[:, :], axis=1, keepdims=True)
    y[:, :] /= (x[:, :] * 2).max(axis=(0, 1), keepdims=True)


def test_keepdims_and_methods():
    check(keeping, (rng.random((4, 7)), np.zeros((4, 7))), tolerance=1e-12)


@parpy.jit
def conditions(x, y, n):
    for i in range(n):
        if i < 3 and parpy.sum(x[i, :]) > 0:
            y[i] = parpy.max(x[i, :] if y[i] > 0 else -x[i, :])
        elif parpy.any(x[i, :] > 4):
            y[i] = parpy.sum(np.where(x[i, :] > 0, 1, 0))
    k = 0
    while parpy.sum(x[:k, 0]) < 6 and k < n:
        k += 1
    y[0] = k


def test_reductions_in_conditions():
    check(conditions, (ints(6, 9), ints(6), 6))


@parpy.jit
def scalars(x, y):
    parpy.label("N")
    m = parpy.mean(x[:])
    parpy.label("M")
    y[:] = x[:] - m


def test_reductions_into_variables():
    check(scalars, (ints(70), ints(70)), {"N": 64, "M": 32}, 1e-12)


@parpy.jit
def nested(x, y):
    y[:] = parpy.sum(x[:, :] / parpy.max(x[:, :], axis=1, keepdims=True), axis=0) + parpy.min(x[:, :])


def test_reductions_of_reductions():
    check(nested, (rng.random((5, 6)) + 1, ints(6)), tolerance=1e-12)


def test_nan():
    x = ints(3, 5)
    x[1, 2] = np.nan

    @parpy.jit
    def f(x, y):
        y[:] = parpy.max(x[:, :], axis=1) + parpy.min(x[:, :], axis=1)

    check(f, (x, np.zeros(3)))


def test_reduce_is_one_object():
    assert parpy.reduce.sum is parpy.sum
    assert parpy.reduce() == parpy.LoopPar().reduce()
    assert parpy.sum(np.ones((2, 3)), axis=1).tolist() == [3, 3]


# ---------------------------------------------------------------- contractions


@parpy.jit
def product(a, b, c):
    parpy.label("N")
    parpy.label("M")
    parpy.label("K")
    c[:, :] = a @ b


@parpy.jit
def vectors(a, v, y):
    y[:] = np.matmul(v[1:], a[1:, :])
    y[0] = np.dot(v[:], v[:])


def test_products_of_vectors():
    check(vectors, (ints(5, 5), ints(5), ints(5)))


@parpy.jit
def gemv(a, v, y, alpha):
    parpy.label("N")
    parpy.label("K")
    y[:] = alpha * (a @ v) + y[:]


@pytest.mark.parametrize("shapes", [((4, 5), (5, 6)), ((1, 1), (1, 1)), ((3, 0), (0, 2)), ((17, 33), (33, 9))])
def test_matrix_product(shapes):
    a, b = (ints(*shape) for shape in shapes)
    check(product, (a, b, np.ones((a.shape[0], b.shape[1]))), {"N": 4, "M": 8, "K": 32})


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float16, np.complex128, bool])
def test_matrix_product_of(dtype):
    a, b = ints(4, 5, dtype=dtype), ints(5, 6, dtype=dtype)
    check(product, (a, b, np.ones((4, 6), dtype)), {"N": 4, "M": 32}, 1e-6)


def test_matrix_times_vector():
    check(gemv, (ints(6, 9), ints(9), ints(6), 2.0), {"N": 6, "K": 32})


@parpy.jit
def rows_on_the_host(x, y):
    parpy.label("rows")
    parpy.label("columns")
    y[:] = parpy.sum(x[:, :], axis=1) * 2


@parpy.jit
def normalised(x, y):
    parpy.label("rows")
    x[:, 0] = x[:, 0] / parpy.sum(x[:, 0])
    parpy.label("rows")
    y[:] = x[:, 1] + np.dot(x[0, :], x[0, :])


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("shape", [(7, 300), (1, 5), (5, 2), (2, 2)])
def test_reductions_beside_what_is_mapped(backend, shape):
    for function, loops in (
        (rows_on_the_host, {"columns": 64}),
        (rows_on_the_host, {"rows": 4}),
        (normalised, {"rows": 4}),
    ):
        x, y = np.random.default_rng(0).random(shape), np.zeros(shape[0])
        u, v = x.copy(), y.copy()
        function(u, v, seq=True)
        function(x, y, opts=options(backend, loops))
        np.testing.assert_allclose(x, u)
        np.testing.assert_allclose(y, v)


def many(a, b):
    return a @ b


def many_within(a, b):
    c = np.dot(a * 2, b) - 1
    return c + (a[..., :1] if a.ndim > 1 and b.ndim > 1 else 0)


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("function", [many, many_within], ids=lambda f: f.__name__)
def test_products_of_arrays_with_many_dimensions(function, backend):
    generator = np.random.default_rng(0)
    compiled = parpy.jit(function)
    for left in ((3,), (2, 3), (4, 2, 3), (2, 1, 2, 3), (0, 2, 3), (2, 0, 3)):
        for right in ((3,), (3, 5), (3, 0)):
            a, b = (generator.integers(0, 5, shape).astype("f8") for shape in (left, right))
            got, want = compiled(a, b, opts=options(backend, {})), function(a, b)
            assert np.shape(got) == np.shape(want)
            assert np.array_equal(got, want)


@pytest.mark.parametrize("backend", TARGETS)
def test_products_of_many_matrices(backend):
    generator = np.random.default_rng(0)
    compiled = parpy.jit(many)
    for left, right in (
        ((4, 2, 3), (4, 3, 5)), ((2, 3), (4, 3, 5)), ((3,), (4, 3, 5)), ((1, 2, 3), (4, 3, 5)), ((4, 2, 3), (1, 3, 5)),
        ((2, 1, 2, 3), (4, 3, 5)), ((4, 2, 3), (2, 4, 3, 1)), ((3,), (2, 4, 3, 5)), ((4, 0, 3), (4, 3, 5)),
    ):  # fmt: skip
        a, b = (generator.integers(0, 5, shape).astype("f8") for shape in (left, right))
        for x, y in ((a, b), (a[::-1], b[..., ::-1])):
            got, want = compiled(x, y, opts=options(backend, {})), many(x, y)
            assert np.shape(got) == np.shape(want)
            assert np.array_equal(got, want)
    with pytest.raises(parpy.CompileError, match=r"the second operand of np\.dot has 3 dimensions"):
        parpy.jit(many_within)(np.ones((2, 3)), np.ones((2, 3, 4)), opts=options(backend, {}))
    with pytest.raises(parpy.CompileError, match="shape"):
        compiled(np.ones((3, 2, 3)), np.ones((2, 3, 4)), opts=options(backend, {}))


def stored_products(a, b, c):
    c[1:] = a @ b - 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_many_matrices_stored(backend):
    generator = np.random.default_rng(0)
    for left, right in (((4, 2, 3), (4, 3, 5)), ((2, 3), (4, 3, 5)), ((4, 2, 3), (1, 3, 5))):
        a, b = generator.random(left), generator.random(right)
        got, want = np.zeros((5, 2, 5)), np.zeros((5, 2, 5))
        stored_products(a, b, want)
        run(backend, parpy.jit(stored_products), (a, b, got), {"gpu": 1} if backend in ("sim", "cuda") else {})
        np.testing.assert_allclose(got, want, rtol=1e-13)
