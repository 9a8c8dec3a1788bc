"""Functions that return an argument give their caller the same array object."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, copies, options

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


def test_printed_text_returns_the_argument():
    x = np.ones(3)
    text = parpy.print_compiled(doubled, (x,), options("cpu", {}))
    program = parpy.compile_string("doubled", text)
    assert program(x) is x
    assert (x == 2).all()


def chosen(a, b, s):
    return b if s > 3 else a


def row_of(x, i):
    return x[i]


def one_row(x, s):
    return x[0] if s > 3 else x[1]


def clear(r):
    r[0] = 77


def stores_to_the_chosen(a, b, x, s):
    r = chosen(a, b, s)
    r[0] = 100
    return r.sum()


def sees_stores(a, b, x, s):
    r = chosen(a, b, s)
    a[0], b[0] = 7, 9
    return r.sum()


def hands_on(a, b, x, s):
    clear(b if s > 3 else a)
    clear(chosen(a, b, s))
    one_row(x, s)[1] = 5
    return a.sum() - b.sum()


def chooses_in_loops(a, b, x, s):
    for i in range(3):
        r = chosen(a, b, s + i)
        r[i] = i
    return a.sum()


def returns_the_chosen(a, b, x, s):
    r = chosen(a, b, s)
    r *= 2
    return r


def returns_rows(a, b, x, s):
    r = row_of(x, 1)
    r[0] = s
    p = (x[0], x[:, 1])
    y = x * 2
    return r, p, y[0], y[:, 1], row_of(x, 0), one_row(x, s)


def names_what_changes(a, b, x, s):
    t, flat = x.T, x.reshape(-1)
    x[0, 0] = s
    x[1] += a
    return t.sum() + flat[0] * t[1, 0]


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
@pytest.mark.parametrize(
    "function",
    [
        stores_to_the_chosen,
        sees_stores,
        hands_on,
        chooses_in_loops,
        returns_the_chosen,
        returns_rows,
        names_what_changes,
    ],
)
@pytest.mark.parametrize("backend", TARGETS)
def test_parts_and_choices(backend, function):
    rng = np.random.default_rng(4)
    compiled = parpy.jit(function)
    for s in (5, 1, 3):
        got = rng.random(4), rng.random(4), rng.random((2, 4))
        want = copies(got)
        result, expected = compiled(*got, s, opts=options(backend, {})), function(*want, s)
        if isinstance(expected, np.ndarray | tuple):
            np.testing.assert_equal(result, expected)
        else:
            assert result == pytest.approx(expected, rel=1e-14)
        np.testing.assert_equal(got, want)
        parts = result if isinstance(result, tuple) else (result,)
        for part, wanted in zip(parts, expected if isinstance(expected, tuple) else (expected,), strict=True):
            for mine, theirs in zip(got, want, strict=True):
                if isinstance(wanted, np.ndarray):
                    assert np.shares_memory(part, mine) == np.shares_memory(wanted, theirs)
