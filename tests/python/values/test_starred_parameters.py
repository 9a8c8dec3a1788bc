"""Functions that take any number of arguments, `def f(a, *rest)`, called from Python and from compiled code."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import parpy
from backends import TARGETS, compiled_throughout, options


def total(*xs):
    s = 0.0
    for v in xs:
        s += v
    return s


def polynomial(u, *c):
    s = 0.0
    for k, each in enumerate(c):
        s += each * u**k
    return s + len(c)


def scaled(a, *rest, scale=2.0, shift):
    s = a
    for r in rest:
        s += r * scale
    return s + shift


def of_arrays(*xs):
    y = xs[0] * 1.0
    for x in xs[1:]:
        y += x
    return y


def with_default(a, b=2.0, *c):
    return a + b + len(c)


def of_numbers(x, t):
    for i in range(x.size):
        x[i] = total(x[i], 2.0) + polynomial(x[i], *t) + polynomial(2.0, 1.0, *t)
    return total() + total(*t) + scaled(1.0, 2.0, 3.0, shift=1.0) + scaled(1.0, shift=x[0])


def of_rows(x, t):
    x += of_arrays(x, x * 2) + of_arrays(x, t[0] * x, x)
    return with_default(1.0) + with_default(1.0, 1.0) + with_default(1.0, 1.0, 2.0) + with_default(b=3.0, a=1.0)


@pytest.mark.parametrize("function", [of_numbers, of_rows], ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", TARGETS)
def test_called_from_compiled_code(backend, function):
    want, got = np.arange(5.0), np.arange(5.0)
    expected = function(want, (1.0, 0.5, 2.0))
    with compiled_throughout():
        result = parpy.jit(function)(got, (1.0, 0.5, 2.0), opts=options(backend, {}))
    np.testing.assert_allclose(result, expected)
    np.testing.assert_allclose(got, want)


@pytest.mark.parametrize("backend", TARGETS)
def test_called_from_python(backend):
    opts = options(backend, {})
    x = np.arange(3.0)
    assert parpy.jit(total)(1, 2.5, opts=opts) == 3.5
    assert parpy.jit(total)(opts=opts) == 0
    assert parpy.jit(scaled)(1.0, 2.0, 3.0, shift=1.0, opts=opts) == 12
    assert parpy.jit(scaled)(1.0, shift=1.0, opts=opts) == 2
    assert parpy.jit(with_default)(1.0, opts=opts) == 3
    np.testing.assert_array_equal(parpy.jit(of_arrays)(x, x, x, opts=opts), 3 * x)
    assert pickle.loads(pickle.dumps(parpy.jit(total)))(1, 2) == 3


def test_what_python_runs_of_such_a_function():
    def told(x, *more):
        print(end="")
        y = np.zeros(x.size)
        for each in more:
            y += each * x
        return y

    x = np.arange(3.0)
    np.testing.assert_array_equal(parpy.jit(told)(x, 1.0, 2.0), told(x, 1.0, 2.0))


def test_wrong_calls():
    def few(x):
        x[0] = scaled(shift=x[1])

    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'shift'"):
        parpy.jit(scaled)(1.0)
    with pytest.raises(parpy.CompileError, match=r"P105.*'scaled' gets no value for its parameter 'a'"):
        parpy.jit(few)(np.ones(2))


def test_as_a_value_it_is_refused():
    def applied(f, x):
        return f(x[0])

    with pytest.raises(parpy.CompileError, match=r"P006.*'total' takes any number of arguments"):
        parpy.jit(applied)(total, np.ones(2))
