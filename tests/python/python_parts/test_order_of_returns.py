"""The parts of returned tuples, lists and dicts are evaluated in Python's order, and arrays that are chosen or unpacked
are returned themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parpy


class Steps:
    def __init__(self) -> None:
        self.n = 0

    def next(self):
        self.n += 1
        return self.n


def view_first(x, o):
    return x[o.next() :], o.next()


def view_between(x, o):
    return o.next(), x[o.next() :], o.next()


def view_list_and_sum(x, o):
    return x[o.next() : o.next() + 3], [o.next()], x + o.next()


def views_in_a_tuple(x, o):
    return (x[o.next() :], (o.next(), x[o.next() :]), o.n)


def attribute_around(x, o):
    return o.n, x[o.next() :], o.n


def entries(x, o):
    return {"a": x[o.next() :], "b": o.next()}


def elements_of_a_list(x, o):
    return [x[o.next() :], o.next()]


def choice_between(x, o):
    return o.next(), (x if o.next() > 1 else x[1:]), o.next()


@pytest.mark.parametrize(
    "function",
    [
        view_first,
        view_between,
        view_list_and_sum,
        views_in_a_tuple,
        attribute_around,
        entries,
        elements_of_a_list,
        choice_between,
    ],
)
def test_calls_happen_in_order(function):
    compiled = parpy.jit(function)
    for _ in range(2):
        x, o, p = np.arange(10.0), Steps(), Steps()
        assert_alike(compiled(x, p), function(x, o))
        assert p.n == o.n


def one_of_two(x, y, s):
    return y if s > 3 else x


def one_or_computed(x, y, s):
    return (y + 1 if s > 3 else x), s + 1


def one_of_three(x, y, s):
    return s + 1, (y if s > 3 else (x if s > 1 else x[1:]))


def one_or_none(x, y, s):
    return None if s > 3 else x


def pairs_of_views(x, y, s):
    return (y, y[1:]) if s > 3 else (x, x[1:])


def reshaped(x, y, s):
    return x.T if s > 3 else y.reshape(2, 2)


def shapes(x, y, s):
    return x.shape if s > 3 else y.shape


def changed_before(x, y, s):
    for i in range(len(x)):
        x[i] += 1
    return x if s > 3 else y


def number_or_zero(x, y, s):
    return s if s > 3 else 0


def unpacked(x, y, s):
    return *x, s


def unpacked_list(x, y, s):
    return [*x, *y, s * 2]


def nested(x, y, s):
    return ((x, y + 1), [x[1:]])


def lists_of_lists(x, y, s):
    return [[s + 1], [x, (y[1:], s)]]


@pytest.mark.parametrize("s", [1, 2, 5, 5.0])
@pytest.mark.parametrize(
    "function",
    [
        one_of_two,
        one_or_computed,
        one_of_three,
        one_or_none,
        pairs_of_views,
        reshaped,
        shapes,
        changed_before,
        number_or_zero,
        unpacked,
        unpacked_list,
        nested,
        lists_of_lists,
    ],
)
def test_arrays_are_returned_themselves(function, s):
    x, y = np.arange(4.0), np.arange(4.0) + 7
    start = x.copy()
    got = parpy.jit(function)(x, y, s)
    x[:] = start
    assert_alike(got, function(x, y, s), x, y)


def assert_alike(got: Any, expected: Any, *arrays: np.ndarray) -> None:
    """Checks that types, values, and the memory shared with these arrays are the same."""
    if isinstance(expected, np.ndarray):
        assert isinstance(got, np.ndarray) and got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)
        for array in arrays:
            assert np.shares_memory(got, array) == np.shares_memory(expected, array)
    elif isinstance(expected, tuple | list):
        assert type(got) is type(expected) and len(got) == len(expected)
        for a, b in zip(got, expected, strict=True):
            assert_alike(a, b, *arrays)
    elif isinstance(expected, dict):
        assert list(got) == list(expected)
        assert_alike(list(got.values()), list(expected.values()), *arrays)
    else:
        assert got == expected and (isinstance(expected, np.generic) or type(got) is type(expected))
