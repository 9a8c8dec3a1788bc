"""Returned values that Python chooses or makes: texts, elements of several types, and parts of an array beside it."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options

X = np.arange(5.0)


def chosen(x, n):
    return "even" if n % 2 == 0 else "odd"


def beside_numbers(x, n):
    return ("many" if x.sum() > n else "few"), x.sum(), x * 2


def computed(x, n):
    y = x * 2
    return ("a" if y[0] > 0 else f"b{y[1]}"), n * 2


def in_dict(x, n):
    return {"kind": "small" if n < 3 else "large", "sum": x.sum()}


def bumped(x):
    x[0] += 1
    return x[0]


def in_order(x, n):
    return ("a" if x[0] > 0 else "b"), bumped(x), ("a" if x[0] > 0 else "b"), f"{x[0]}"


def literals_in_order(x, n):
    return ("a" if x[0] > 0 else "b"), bumped(x), ("a" if x[0] > 0 else "b")


def mixed(x, n):
    return [1, 2.5, True][n]


def mixed_by_name(x, n):
    numbers = (1, 2.5, True)
    v = numbers[n]
    return v * 2, numbers[-1 - n]


def mixed_in_loops(x, n):
    """The elements of an array have one type."""
    weights = [1, 2.5]
    y = np.zeros(4)
    for i in range(4):
        y[i] = weights[(i + n) % 2] / 2
    return y


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize(
    "function",
    [
        chosen, beside_numbers, computed, in_dict, in_order, literals_in_order, mixed, mixed_by_name, mixed_in_loops,
    ],
)  # fmt: skip
def test_choices(backend, function):
    compiled = parpy.jit(function)
    for n in (0, 1, 2, 0):
        got = compiled(X.copy(), n, opts=options(backend, {}))
        assert shown(got) == shown(function(X.copy(), n))


def shown(value):
    if isinstance(value, dict):
        return [(key, shown(each)) for key, each in value.items()]
    if isinstance(value, tuple):
        return [shown(each) for each in value]
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.tolist()
    return {np.float64: float, np.int64: int}.get(type(value), type(value)), value


def test_a_text_that_is_an_argument():
    def named(x, mode):
        name = mode
        if mode == "twice":
            x = x * 2
        return name, x

    compiled = parpy.jit(named)
    assert compiled(2.5, "twice") == ("twice", 5.0)
    assert compiled(2.5, "once") == ("once", 2.5)


def nested(x, n):
    y = x * n
    return y, (y, y[1:])


def deeper(x, n):
    return x, (x[::2], (x[1:], n))


def in_list(x, n):
    y = x * n
    return [y, (y[:2], y.sum())]


@pytest.mark.parametrize("function", [nested, deeper, in_list])
def test_parts_in_nested_tuples(function):
    """The parts share the memory of the array, as in Python."""
    got, want = parpy.jit(function)(X, 2), function(X, 2)
    arrays = [part for part in flat(got) if isinstance(part, np.ndarray)]
    assert [shown(each) for each in flat(got)] == [shown(each) for each in flat(want)]
    assert all(np.shares_memory(arrays[0], each) for each in arrays[1:])


def flat(value):
    return [part for each in value for part in flat(each)] if isinstance(value, list | tuple) else [value]


@parpy.jit
def turned(t, s):
    return (*t[1:], t[0])


@parpy.jit
def sums_of_turned(a, x, r):
    for i in range(a.shape[0]):
        e, f = turned(turned((x[i] + 0.5, r), r), 0.5)
        a[i] += e + f


def test_parts_of_tuples_are_compiled():
    """Several parts of a tuple share no memory."""
    a, x = np.arange(6.0), np.arange(6)
    assert "Python runs" not in str(parpy.explain(sums_of_turned, a, x, 2.0))
    sums_of_turned(a, x, 2.0)
    np.testing.assert_array_equal(a, np.arange(6.0) + np.arange(6) + 2.5)


def test_numbers_of_a_range_for_one_element():
    """The message names the call in the user's text."""

    @parpy.jit
    def stored(x, n):
        parpy.label("i")
        for i in range(2):
            x[i] = range(n)

    with pytest.raises(parpy.CompileError, match="an array is stored to one element of 'x'") as caught:
        stored(np.zeros(3), 3, opts=parpy.par({"i": parpy.threads(2)}))
    assert "x[i] = range(n)" in str(caught.value)
    assert "numbers_of_range" not in str(caught.value)
