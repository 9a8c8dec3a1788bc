"""Arrays that loops give other values under the same name (`x = x - step * d`), and functions that get them."""

from __future__ import annotations

import numpy as np
import pytest

import parpy

rng = np.random.default_rng(2)


@parpy.jit
def gradient(x):
    return 2 * x + np.sin(x) + np.dot(x, x)


@parpy.jit
def valley(x):
    """The gradient of Rosenbrock's function."""
    middle, before, after = x[1:-1], x[:-2], x[2:]
    g = np.zeros_like(x)
    g[1:-1] = 200 * (middle - before**2) - 400 * (after - middle**2) * middle - 2 * (1 - middle)
    for i, v in enumerate(x):
        g[i] += 1e-3 * v
    return g


@parpy.jit
def storing(x):
    x[0] += 1
    return x * 2


@parpy.jit
def returning(x):
    return x


@parpy.jit
def returning_a_part(x):
    part = x[::-1]
    other = part
    return other


@parpy.jit
def storing_to_a_part(x):
    part = x[1:]
    part[0] += 1
    return x * 2


@parpy.jit
def out_of(x):
    np.multiply(x, 2, out=x)
    return x.sum()


def momentum(f, x, n):
    m = np.zeros_like(x)
    for _ in range(n):
        m = 0.9 * m + f(x)
        x = x - 0.01 * m
    return x


def by_a_global(x, n):
    start = x.copy()
    x = start
    for i in range(n):
        x = x - gradient(x) / (i + len(x))
    return x, start


def by_keyword(x, n):
    best = np.zeros(1)
    for _ in range(n):
        best[0] = max(best[0], gradient(x=x)[0])
        x = x / 2
    return x, best


def plain(function):
    return getattr(function, "__wrapped__", function)


@pytest.mark.parametrize("gradient_of", [gradient, valley], ids=lambda f: f.__name__)
def test_functions_as_arguments(gradient_of):
    x = rng.random(6)
    got = parpy.jit(momentum)(gradient_of, x.copy(), 4)
    np.testing.assert_allclose(got, momentum(plain(gradient_of), x, 4), rtol=1e-12)


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("function", [momentum, by_a_global, by_keyword], ids=lambda f: f.__name__)
def test_functions_that_only_read(function, n):
    x = rng.random(6)
    given = (gradient, x.copy(), n) if function is momentum else (x.copy(), n)
    got = parpy.jit(function)(*given)
    want = function(*((plain(gradient), x, n) if function is momentum else (x, n)))
    for each, other in zip(got, want, strict=True):
        np.testing.assert_allclose(each, other, rtol=1e-12)


def test_without_iterations_the_argument_is_returned():
    x = rng.random(4)
    assert parpy.jit(momentum)(gradient, x, 0) is x


@pytest.mark.parametrize(
    "other", [storing, returning, out_of, returning_a_part, storing_to_a_part], ids=lambda f: f.__name__
)
def test_functions_that_store_or_return(other):
    """The result is Python's, or the call is refused: a copy would not receive the stores."""

    compiled = parpy.jit(momentum)
    assert compiled(gradient, rng.random(3), 2).shape == (3,)
    x = rng.random(3)
    want, got = x.copy(), x.copy()
    expected = momentum(plain(other), want, 2)
    try:
        result = compiled(other, got, 2)
    except parpy.CompileError as error:
        assert {"P217", "P223"} & {*error.codes}
    else:
        np.testing.assert_allclose(result, expected)
        np.testing.assert_allclose(got, want)


def stored_by_out(x, n):
    m = np.zeros_like(x)
    for _ in range(n):
        np.add(x, 1, out=x)
        m = m + x
        x = x * 2
    return m


def test_out_is_a_store():
    x = rng.random(3)
    want, got = x.copy(), x.copy()
    expected = stored_by_out(want, 3)
    try:
        result = parpy.jit(stored_by_out)(got, 3)
    except parpy.CompileError as error:
        assert "P217" in error.codes
    else:
        np.testing.assert_allclose(result, expected)
        np.testing.assert_allclose(got, want)


class Holder:
    def __init__(self, x: np.ndarray) -> None:
        self.x, self.log = x, []


def by_another_argument(a, b):
    b += 1
    if b[0] > 0:
        a = a * 2
    c = a if a[0] > 3 else b
    return c * 1


def by_a_part(a):
    v = a[:2]
    if a[0] > 0:
        v[0] = 9
        a = a * 2
    c = a if a[0] > 5 else v
    return c * 1


def in_a_loop(a, b):
    for _ in range(2):
        b[0] += 5
        a = a * 2
    print(a[0])
    return a


def by_an_attribute(a, o):
    o.log.append(1)
    for _ in range(2):
        o.x[0] += 5
        a = a * 2
    return a


def reversed_by_another(a, b, n):
    a[:] = b
    for _ in range(n):
        b = b * 0.5
        a[:] = a[::-1]
    return a, b


def through_a_tuple(x, ys):
    for v in ys:
        v += x
        x = x + 3
    return x, ys


def given(function, x):
    if function is by_a_part:
        return (x,)
    if function is by_an_attribute:
        return x, Holder(x)
    if function is reversed_by_another:
        return x, x[::-1], 3
    return (x, (x,)) if function is through_a_tuple else (x, x)


@pytest.mark.parametrize(
    "function",
    [by_another_argument, by_a_part, in_a_loop, by_an_attribute, reversed_by_another, through_a_tuple],
    ids=lambda f: f.__name__,
)
def test_stores_under_other_names(function):
    """The result is Python's, or the call is refused: a copy would not receive the stores to shared memory."""
    x, y = np.arange(1.0, 5.0), np.arange(1.0, 5.0)
    want = function(*given(function, x))
    try:
        got = parpy.jit(function)(*given(function, y))
    except parpy.CompileError as error:
        assert {"P217", "P219", "P223"} & {*error.codes}
        return
    pairs = zip(got, want, strict=True) if isinstance(got, tuple) else [(got, want)]
    for each, other in pairs:
        np.testing.assert_allclose(each, other)
    np.testing.assert_allclose(y, x)


def survivors(x, places, steps, found):
    """Elements that have left are taken out of several arrays, one of them an argument of the function."""
    v = np.zeros_like(x)
    for n in range(steps):
        if not len(v):
            break
        np.add(v, x, v)
        gone = np.abs(v) > 5
        for k in range(len(gone)):
            if gone[k]:
                found[places[k]] = n + 1
        np.logical_not(gone, gone)
        v = v[gone]
        x, places = x[gone], places[gone]
    return v


@pytest.mark.parametrize("backend", ["cpu", "sim"])
@pytest.mark.parametrize("steps", [0, 3, 60])
def test_loops_that_take_elements_out_of_several_arrays(backend, steps):
    function = parpy.jit(survivors)
    for size in (300, 41, 1, 0):
        x = rng.standard_normal(size)
        got, want = np.zeros((2, size), np.int64)
        given, places = x.copy(), np.arange(size)
        result = function(given, places, steps, got, opts=parpy.auto(backend=parpy.CompileBackend(backend)))
        expected = survivors(x, np.arange(size), steps, want)
        np.testing.assert_array_equal(result, expected)
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(given, x)
        np.testing.assert_array_equal(places, np.arange(size))


def test_loops_inside_of_them_are_compiled():
    arguments = rng.standard_normal(300), np.arange(300), 9, np.zeros(300, np.int64)
    text = str(parpy.explain(parpy.jit(survivors), *arguments, opts=parpy.auto(backend=parpy.CompileBackend.Cpu)))
    compiled, _, run_by_python = text.partition("Python runs:")
    assert "for k in range(len(gone)):" in compiled and "for k in" not in run_by_python
