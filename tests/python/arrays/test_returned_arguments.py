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


def view(x, n):
    x[0] = 1
    return x[1:], x.T, x.reshape(-1)


def row(x, n):
    return x[n]


def row_at_times(x, n):
    if n > 1:
        return x[0]
    return x[1] * 2


def named_row(x, n):
    r = x[n]
    r *= 3
    return r


def chosen_row(x, n):
    best = 0
    for k in range(len(x)):
        if x[k].sum() > x[best].sum():
            best = k
    return best, x[best], x.sum()


def last_row(x, n):
    r = x[0]
    for i in range(n + 1):
        r = x[i]
        r[i] = 0
    return r


def copied_at_times(x, n):
    r = x[0] if n > 1 else x[1] + 1
    r[0] = 7
    return {"row": r, "more": x[..., 0], "all": x[None], "one": x[0, 0]}


def column(x, n):
    return x[:, n]


def with_real_parts(x, n):
    x[n] += 1
    return x.real, np.imag(x)


@pytest.mark.filterwarnings("ignore:(?s).*P31[56]:parpy.PerformanceWarning")
@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize(
    "function",
    [view, row, row_at_times, named_row, chosen_row, last_row, copied_at_times, column, with_real_parts],
)
def test_parts_of_arguments_are_views(function, backend):
    compiled = parpy.jit(function)
    complexes = [np.arange(12.0).reshape(3, 4) * (1 + 2j)] if function is with_real_parts else []
    for given in (np.arange(12.0).reshape(3, 4), np.arange(24.0).reshape(3, 4, 2).transpose(1, 0, 2), *complexes):
        for n in (1, 2, 1):
            want, got = given.copy(), given.copy()
            expected, result = function(want, n), compiled(got, n, opts=options(backend, {}))
            np.testing.assert_array_equal(got, want)
            pairs = [(expected, result)]
            if isinstance(expected, tuple | dict):
                assert type(result) is type(expected)
                each = (expected, result) if isinstance(expected, tuple) else (expected.values(), result.values())
                pairs = list(zip(*each, strict=True))
            for theirs, ours in pairs:
                np.testing.assert_array_equal(ours, theirs)
                if isinstance(theirs, np.ndarray) and theirs.ndim > 0:
                    assert np.shares_memory(ours, got) == np.shares_memory(theirs, want)
                    assert ours.dtype == theirs.dtype


def test_elements_that_are_numbers_are_compiled_alone():
    compiled = parpy.jit(row)
    assert compiled(np.arange(3.0), 1) == 1
    assert compiled(np.arange(6.0).reshape(3, 2), 1).tolist() == [2, 3]
    assert compiled(np.arange(3.0), 2) == 2
    with pytest.raises(IndexError):
        compiled(np.arange(6.0).reshape(3, 2), 5)


def test_parts_that_helpers_return_are_refused():
    @parpy.jit
    def f(x):
        r = row(x, 1)
        r[0] = 5
        return r

    with pytest.raises(parpy.CompileError, match="elements of 'x', which are its caller's already"):
        f(np.zeros((2, 3)))


def test_printed_text_returns_the_argument():
    x = np.ones(3)
    text = parpy.print_compiled(doubled, (x,), options("cpu", {}))
    program = parpy.compile_string("doubled", text)
    assert program(x) is x
    assert (x == 2).all()
