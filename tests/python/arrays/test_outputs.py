"""Functions of NumPy that store to an array, `np.add(a, b, out=c)`, as statements and as values; against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, compiled_throughout, copies, options

rng = np.random.default_rng(7)


def statements(a, b, c, m):
    np.clip(a, -0.5, 0.5, out=a)
    np.clip(b, -0.7, 0.7, b)
    np.add(a, b, out=c)
    np.multiply(c, b, c)
    np.add(a[1:], b[:-1], out=c[1:])
    np.dot(a, m, out=b)
    np.matmul(b, m, out=b)
    np.round(c, 1, out=c)
    a.clip(0, 1, out=a)


def rows(a, b, c, m):
    for t in range(3):
        np.sqrt(np.abs(a[t]), out=c[t])
        np.exp(np.multiply(b[t], 2, out=c[t]), out=b[t])
        np.cumsum(a[t], out=c[t])
        np.sum(a, axis=0, out=b[t])
        a.mean(axis=0, out=a[t])


def over_itself(a, b, c, m):
    np.add(a[1:], 1, out=a[:-1])
    for t in range(2):
        np.cumsum(b[t], out=b[t])


def values(a, b, c, m):
    y = np.add(a, b, out=c)
    y[0] = 7
    s = c[0, 0] + np.subtract(a, b, out=c)[0, 0] + c[0, 0]
    return s + np.add(a, b, out=c).sum()


def masked(a, b, c, m):
    np.divide(a, b, out=c, where=b > 0.1)
    for t in range(3):
        np.sqrt(a[t], out=b[t], where=a[t] > 0)
    y = np.multiply(a, 2, out=a, where=c > 0)
    return y.sum()


def new_array(a, b, c, m):
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0).sum()


def of_a_name(a, b, c, m):
    y = np.add(a, b, out=c)
    return y


FUNCTIONS = [statements, rows, over_itself, values, masked, new_array, of_a_name]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", TARGETS)
def test_as_numpy(backend, function):
    given = *(rng.normal(size=(3, 4)) for _ in range(3)), rng.normal(size=(4, 4))
    want, got = copies(given), copies(given)
    expected = function(*want)
    with compiled_throughout():
        result = parpy.jit(function)(*got, opts=options(backend, {}))
    if expected is not None:
        np.testing.assert_allclose(result, expected, rtol=1e-12)
    for a, b in zip(want, got, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_entries_and_attributes():
    class Field:
        def __init__(self):
            self.x = np.arange(4.0)

    def added(p, d, a):
        np.add(p.x, a, out=p.x)
        np.multiply(d["y"], a, out=d["y"])

    p, d, a = Field(), {"y": np.ones(4)}, np.arange(4.0)
    parpy.jit(added)(p, d, a)
    np.testing.assert_array_equal(p.x, a + a)
    np.testing.assert_array_equal(d["y"], a)


def test_dimensions_have_labels():
    def added(a, b, c):
        parpy.label("i")
        np.add(a, b, out=c)

    a, b, c = (rng.normal(size=300) for _ in range(3))
    parpy.jit(added)(a, b, c, opts=parpy.par({"i": parpy.threads(4)}))
    np.testing.assert_array_equal(c, a + b)


def sine(x, y):
    np.sin(x, out=y)


def sum_with_number(x, y):
    np.add(x, 1.5, out=y)


def chosen(x, y):
    np.multiply(x, x, out=y, where=x > 1)


def within(x, y):
    np.clip(x, 0, 2, out=y)


def value(x, y):
    return np.add(x, x, out=y)[1]


@pytest.mark.parametrize("to", [np.float64, np.float32, np.int64, np.int8, np.complex128, np.bool_])
@pytest.mark.parametrize("given", [np.float64, np.float32, np.int64, np.int8, np.complex128, np.bool_])
@pytest.mark.parametrize("function", [sine, sum_with_number, chosen, within, value])
def test_results_of_another_kind_are_refused_as_numpy_does(function, given, to):
    if function in (chosen, within) and given in (np.complex128, np.bool_):
        pytest.skip("complex numbers have no order, and clip of truth values gives integers")
    x, want, got = np.arange(4).astype(given), np.zeros(4, to), np.zeros(4, to)
    compiled = parpy.jit(function)
    try:
        expected = function(x, want)
    except TypeError:
        with pytest.raises(parpy.CompileError, match=r"P226|P205"):
            compiled(x, got, opts=options("cpu", {}))
        assert not got.any()
        return
    result = compiled(x, got, opts=options("cpu", {}))
    tolerance = 1e-6 if np.float32 in (given, to) or given is np.int8 else 1e-13
    np.testing.assert_allclose(got, want, rtol=1e-3 if function is sine and given is np.int8 else tolerance)
    assert expected is None or result == expected


def add(x, y):
    np.sum(x, axis=1, out=y)


def multiply(x, y):
    x.prod(axis=1, out=y)


def average(x, y):
    np.mean(x, 1, out=y)


def accumulate(x, y):
    np.cumsum(x[:, 0], out=y)


@pytest.mark.parametrize("to", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("given", [np.float64, np.float32, np.int32])
@pytest.mark.parametrize("function", [add, multiply, average, accumulate])
@pytest.mark.parametrize("backend", TARGETS)
def test_sums_have_the_type_of_the_output(backend, function, given, to):
    x = (rng.random((5, 12)) * 3 + 1).astype(given)
    want, got = np.zeros(5, to), np.zeros(5, to)
    function(x, want)
    parpy.jit(function)(x, got, opts=options(backend, {}))
    np.testing.assert_allclose(got, want, rtol=1e-6 if to is np.float32 else 1e-14)


def test_places_go_to_integers():
    def places(x, y):
        np.argmax(x, axis=0, out=y)

    def of_method(x, y):
        x.argmin(axis=0, out=y)

    x = rng.random((4, 3))
    for function in (places, of_method):
        want, got = np.zeros(3, int), np.zeros(3, int)
        function(x, want)
        parpy.jit(function)(x, got)
        np.testing.assert_array_equal(got, want)
        with pytest.raises(TypeError, match="Cannot cast"):
            parpy.jit(function)(x, np.zeros(3))


def test_reductions_convert_theirs():
    def sums(x, y):
        np.sum(x, axis=0, out=y)

    want, got = np.zeros(2, int), np.zeros(2, int)
    x = np.array([[0.5, 1.5], [0.25, 2.75]])
    sums(x, want)
    parpy.jit(sums)(x, got, opts=options("cpu", {}))
    assert got.tolist() == want.tolist() == [0, 4]
