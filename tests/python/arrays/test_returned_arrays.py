"""Arrays that functions return: compiled code makes them, in any shape and type, in the memory of the call's arrays."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import ON_GPU, TARGETS, copies, options

rng = np.random.default_rng(20)


def expression(x, y, n):
    return x * 2 + y


def name(x, y, n):
    t = x - y
    t[0] += 1
    t *= 2
    return t


def computed_from_a_name(x, y, n):
    t = x - y
    r = t[1:]
    r *= 3
    return t * t


def several(x, y, n):
    t = np.sqrt(np.abs(x))
    return t, parpy.sum(t), x > y, np.sum(x, axis=0)


def on_two_paths(x, y, n):
    if n > 2:
        return x[1:] * 2, 1
    return x + 1j, y[0, 0]


def an_array_or_a_number(x, y, n):
    if n > 2:
        return x * 2
    return 1.5


def of_an_iteration(x, y, n):
    for i in range(n):
        t = x[i % x.shape[0]] * i
        if i == 2:
            return t
    return y[0] * 1


def of_run_time_size(x, y, n):
    t = x[0, :n] * 2
    return t, x[:n, n:] + 1


def made(x, y, n):
    t = np.zeros((2, n))
    t[1] = 3
    u = np.full_like(x, 4.5)
    return t, u + 1


def products(x, y, n):
    return x @ y[0], np.exp(x - np.max(x, axis=1, keepdims=True)), np.zeros(0), y[:0] * 2


def part_of_values(x, y, n):
    t = x * 2
    return t[1:, ::-1]


FUNCTIONS = [
    expression, name, computed_from_a_name, several, on_two_paths, an_array_or_a_number, of_an_iteration,
    of_run_time_size, made, part_of_values, products,
]  # fmt: skip


def same(a, b):
    if isinstance(b, tuple):
        assert isinstance(a, tuple) and len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
    elif isinstance(b, np.ndarray):
        assert isinstance(a, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape
        assert a.flags.c_contiguous and a.flags.owndata and a.flags.writeable
        np.testing.assert_allclose(a, b, rtol=1e-12)
    else:
        assert not isinstance(a, np.ndarray) and a == pytest.approx(b)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", TARGETS)
def test_as_python(backend, function):
    compiled = parpy.jit(function)
    for shape, n in (((4, 5), 3), ((4, 5), 1), ((1, 1), 3), ((3, 300), 2)):
        x, y = rng.random(shape), rng.random(shape)
        kept = x.copy(), y.copy()
        same(compiled(x, y, n, opts=options(backend, {})), function(x, y, n))
        np.testing.assert_array_equal((x, y), kept)


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("backend", TARGETS)
def test_types(backend, dtype):
    x = (rng.random((3, 4)) * 3).astype(dtype)
    t = parpy.jit(lambda_free)(x, opts=options(backend, {}))
    assert t.dtype == x.dtype and t is not x
    np.testing.assert_array_equal(t, x)


def lambda_free(x):
    t = np.copy(x)
    return t


@pytest.mark.parametrize("backend", TARGETS)
def test_labelled(backend):
    @parpy.jit
    def scaled(x):
        parpy.label("N")
        parpy.label("M")
        t = x * 2
        return t

    @parpy.jit
    def made_by_loops(x):
        with parpy.gpu:
            t = x * 0.0
        parpy.label("N")
        for i in range(x.shape[0]):
            t[i] += x[i] * 2
        return t

    x = rng.random((70, 30))
    np.testing.assert_array_equal(scaled(x, opts=options(backend, {"N": 70, "M": 32})), x * 2)
    np.testing.assert_array_equal(made_by_loops(x, opts=options(backend, {"N": 70})), x * 2)


@pytest.mark.gpu
@pytest.mark.skipif(not ON_GPU, reason="needs a GPU")
def test_arrays_on_a_gpu_give_a_buffer():
    x = parpy.buffer.from_array(rng.random((70, 30)), parpy.CompileBackend.Cuda)
    t, total = parpy.jit(several_on_gpu)(x)
    assert isinstance(t, parpy.buffer.Buffer) and t.backend is parpy.CompileBackend.Cuda
    np.testing.assert_allclose(t.numpy(), x.numpy() * 2 + 1)
    assert total == pytest.approx(x.numpy().sum())
    for _ in range(3):
        t = parpy.jit(several_on_gpu)(t)[0]
    np.testing.assert_allclose(t.numpy(), x.numpy() * 16 + 15)


def several_on_gpu(x):
    return x * 2 + 1, parpy.sum(x)


def test_each_call_gives_another_array():
    f = parpy.jit(expression)
    x = np.ones((2, 2))
    a, b = f(x, x, 0), f(x, x, 0)
    a[:] = 7
    assert b.tolist() == [[3, 3], [3, 3]] and not np.shares_memory(a, b)


@pytest.mark.parametrize("backend", TARGETS)
def test_failures_leave_nothing(backend):
    @parpy.jit
    def failing(x, n):
        t = x * 2
        for i in range(x.shape[0]):
            if i > n:
                u = x[1:] * 1
            t[i] = u[0]
        return t

    with pytest.raises(UnboundLocalError):
        failing(np.ones(4), 0, opts=options(backend, {}))
    assert failing(np.ones(4), -1, opts=options(backend, {})).tolist() == [1] * 4


def test_negative_sizes():
    with pytest.raises(ValueError, match="P430"):
        parpy.jit(of_size)(np.ones(3), -2)


def of_size(x, n):
    for i in range(1):
        x[i] = np.sum(np.ones(n))
    return x * np.ones(3)


@parpy.jit
def view_of_argument(x):
    return x[1:]


@parpy.jit
def named_view_of_argument(x):
    y = x[1:]
    y[0] += 1
    return y, x


def test_parts_of_arguments_share_their_memory():
    x = np.arange(4.0)
    y = view_of_argument(x)
    assert np.shares_memory(x, y) and y.tolist() == [1, 2, 3]
    y, again = named_view_of_argument(x)
    assert again is x and np.shares_memory(x, y) and y.tolist() == [2, 2, 3]


def test_text_makes_the_same_arrays():
    x = rng.random((3, 4))
    for n in (1, 3):
        text = parpy.print_compiled(parpy.jit(an_array_or_a_number), (x, x, n))
        same(parpy.compile_string("an_array_or_a_number", text)(x, x, n), an_array_or_a_number(x, x, n))


def shares(x):
    t = x * 2
    return t, t[1:]


def test_results_that_share_memory():
    whole, part = parpy.jit(shares)(np.ones(4))
    assert whole.tolist() == [2, 2, 2, 2] and part.tolist() == [2, 2, 2]
    assert np.shares_memory(whole, part)


@parpy.jit
def twice(v):
    return v * 2


@parpy.jit
def normed(v, k):
    t = v * v
    t[0] += k
    return t / parpy.sum(t)


@parpy.jit
def chain(v):
    return normed(twice(v), 1) + twice(v)


@parpy.jit
def inner(v):
    return v[1:-1]


def calls_in_loops(x, y, n):
    parpy.label("N")
    for i in range(x.shape[0]):
        t = chain(x[i])
        y[i, 0] = np.max(t) + parpy.sum(twice(x[i, 1:])) + np.min(chain(y[i]))
    for i in range(n):
        r = inner(y[i])
        r += twice(r)
    return chain(x[0]), normed(twice(y[1]), n)


def calls_of_calls(x, y, n):
    u = twice(x)
    u = twice(u) + chain(y)
    return u


@pytest.mark.parametrize("function", [calls_in_loops, calls_of_calls], ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", ["cpu", "sim", "cuda"] if ON_GPU else ["cpu", "sim"])
def test_functions_that_return_arrays(backend, function):
    given = rng.random((4, 6)), rng.random((4, 6)), 3
    want, got = copies(given), copies(given)
    result = function(*want)
    opts = parpy.CompileOptions(backend=parpy.CompileBackend(backend), automatic=True)
    same(parpy.jit(function)(*got, opts=opts), result)
    for a, b in zip(want, got, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def twice_returned(x, k):
    y = x * 2
    return y, y


def under_two_names(x, k):
    y = x * 2
    z = y
    return x.sum(), z, y


def replaced_before(x, k):
    y = x * 2
    for _ in range(k):
        y = y + 1
    return y, y, k


def part_of_an_argument(x, k):
    y = x[:2]
    return y, y


def on_one_path(x, k):
    y = x * 2
    if k > 1:
        return y, y
    return y, x * 3


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize(
    "function", [twice_returned, under_two_names, replaced_before, part_of_an_argument, on_one_path]
)
def test_one_array_in_two_places(backend, function):
    for k in (0, 2):
        x = rng.random(4)
        want, got = function(x, k), parpy.jit(function)(x.copy(), k, opts=options(backend, {}))
        for a, b in zip(got, want, strict=True):
            np.testing.assert_array_equal(a, b)
        arrays = [(a, b) for a, b in zip(got, want, strict=True) if isinstance(b, np.ndarray)]
        assert (arrays[0][0] is arrays[1][0]) == (arrays[0][1] is arrays[1][1])


def test_texts_return_one_array_in_two_places():
    x = rng.random(4)
    text = parpy.print_compiled(parpy.jit(twice_returned), x, 1)
    assert "// returns: (f64[1], result 0)" in text
    first, second = parpy.compile_string("twice_returned", text)(x, 1)
    assert first is second
    np.testing.assert_array_equal(first, x * 2)
