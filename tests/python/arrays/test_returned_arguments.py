"""Functions that return an argument give their caller the very array."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options

kept = np.arange(4.0)


@parpy.jit
def doubled(x):
    x *= 2
    return x


@parpy.jit
def both(x, y):
    x += y
    return x, y, x * 2, x.shape[0]


@parpy.jit
def renamed(x):
    t = x
    t[0] = 7
    return t


@parpy.jit
def of_dict(d):
    d["a"][0] += 1
    return d["a"]


@parpy.jit
def of_global(x):
    x[0] = kept[1]
    return kept


@pytest.mark.parametrize("backend", TARGETS)
def test_the_same_object_comes_back(backend):
    opts = options(backend, {})
    for size in (3, 4, 3, 5, 6, 7):  # own sizes, and any
        x, y = np.arange(1.0, size + 1), np.ones(size)
        assert doubled(x, opts=opts) is x
        assert np.array_equal(x, 2 * np.arange(1.0, size + 1))
        a, b, c, n = both(x, y, opts=opts)
        assert a is x
        assert b is y
        assert np.array_equal(c, x * 2)
        assert n == size
        assert renamed(x, opts=opts) is x
        assert x[0] == 7
        d = {"a": x, "b": y}
        assert of_dict(d, opts=opts) is x
        assert x[0] == 8
        assert of_global(x, opts=opts) is kept
        strided = np.zeros(2 * size)[::-2]
        strided += 1
        assert doubled(strided, opts=opts) is strided
        assert (strided == 2).all()
    whole = np.arange(6, dtype=np.int32)
    assert doubled(whole, opts=opts) is whole


def test_compiled_callers_use_it():
    @parpy.jit
    def f(x, y):
        for i in range(2):
            r = doubled(x[i])
            y[i] = np.sum(r)

    x, y = np.ones((2, 3)), np.zeros(2)
    f(x, y)
    assert (x == 2).all()
    assert (y == 6).all()


def test_python_parts_go_on_with_the_argument():
    @parpy.jit
    def f(x, n):
        x -= np.mean(x)
        out = np.zeros(n * 2)
        for i in range(x.shape[0]):
            x[i] += 1
            out[i] = x[i]
        return out

    x = np.arange(4.0)
    want = x - 1.5 + 1
    assert np.array_equal(f(x, 2), want)
    assert np.array_equal(x, want)


def test_parts_of_arguments_are_views_or_refused():
    @parpy.jit
    def view(x):
        x[0] = 1
        return x[1:], x.T, x.reshape(-1)

    @parpy.jit
    def row(x):
        return x[1]

    x = np.zeros((2, 3))
    assert all(np.shares_memory(each, x) for each in view(x))
    with pytest.raises(parpy.CompileError, match="elements of 'x', which are its caller's already"):
        row(x)


def test_printed_text_returns_the_argument():
    x = np.ones(3)
    text = parpy.print_compiled(doubled, (x,), options("cpu", {}))
    program = parpy.compile_string("doubled", text)
    assert program(x) is x
    assert (x == 2).all()
