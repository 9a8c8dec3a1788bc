"""Bools of Python and of NumPy, which compiled loops tell apart: True + True is 2, np.True_ + np.True_ is np.True_, and
only True itself `is True`."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import parpy
from backends import TARGETS, options


def asked_of_list(x):
    flags, n = [], 0
    for i in range(len(x)):
        flags.append(i > 1)
        if flags[i] is True:
            n += 1
    for flag in flags:
        if flag is not True:
            n += 10
    return n, flags


def asked_of_dict(x):
    flags, n = {}, 0
    for i in range(len(x)):
        flags[i] = i > 1
        if flags[i] is False:
            n += 1
    return n, flags


def inverted(x):
    flags, n = [], 0
    for i in range(len(x)):
        flags.append(i > 1)
        n += ~flags[i] + flags[0] - flags[-1]
    return n, flags


def summed_flags(x):
    flags, both = [], []
    for i in range(len(x)):
        flags.append(i > 1)
        both.append(flags[-1] + flags[0])
    return both, flags


def running(x):
    found = {}
    for i in range(len(x)):
        found[i] = found.get(i - 1, x[0]) + x[i]
    return found


def by_parity(x):
    found = {}
    for i in range(len(x)):
        found[i % 2] = found.get(i % 2, x[0]) * x[i]
    return found


def appended(x):
    values = [x[0]]
    for i in range(len(x)):
        values.append(values[-1] + x[i])
    return values[1:]


def collected(x):
    values, total = [], x[0]
    for i in range(len(x)):
        values.append(x[i])
    for value in values:
        total = total + value
    return values, total


def alternated(x):
    values = [x[0] > 0]
    for i in range(len(x)):
        values.append((values[i] > 0) ^ (x[i] > 0))
    return values[1:]


def updated(x):
    values = [x[0]]
    for i in range(len(x)):
        values[0] += x[i]
        values.append(x[i])
    return values


def continued(x, values):
    for i in range(len(x)):
        values.append(values[-1] + values[-2])
    return values


def classes(value):
    """The classes of all elements, which are NumPy's or Python's bools or else numbers."""
    if isinstance(value, dict):
        return [*map(classes, value.values())]
    if isinstance(value, list | tuple):
        return [*map(classes, value)]
    return type(value) if isinstance(value, bool | np.bool_) else "number"


def as_lists(value):
    if isinstance(value, dict):
        return [*value.items()]
    return [*map(as_lists, value)] if isinstance(value, tuple) else value


OF_PYTHON = [asked_of_list, asked_of_dict, inverted, summed_flags]
OF_ARRAYS = [running, by_parity, appended, collected, alternated, updated]
ARRAYS = [
    np.array(each) for each in ([True, True, False, True], [3.0, 1.5, 0, 2], [3, 0, 1, 2], [False, False, True, True])
]


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("function", [*OF_PYTHON, *OF_ARRAYS])
def test_bools_keep_their_kind(backend, function):
    for x in ARRAYS:
        with warnings.catch_warnings():
            warnings.simplefilter("error" if function in OF_PYTHON else "ignore", parpy.PerformanceWarning)
            warnings.filterwarnings("ignore", message="(?s).*P316")  # nothing is mapped
            got = parpy.jit(function)(x, opts=options(backend, {}))
        want = function(x)
        assert as_lists(got) == as_lists(want)
        if function is not collected:  # numbers that a function returns are Python's
            assert classes(got) == classes(want)


def compared(x, values):
    flags, sums = [], []
    for i in range(len(x)):
        values.append(values[0] * 2)
        flags.append(values[i] > 1)
        sums.append((values[0] > 1) + (values[-1] == 3))
    return flags, sums


def compared_in_conditions(x, values):
    n = 0
    for i in range(len(x)):
        values.append(values[-1] + 1.5)
        is_large = values[0] > 1
        if is_large and (values[-1] > 3 or n == 0):
            n += 1
    return n


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
@pytest.mark.parametrize("values", [[1.5, 2], [np.float64(1.5), 2], [2, 3], [True, 1], [np.int64(2), 0.5]], ids=str)
def test_comparisons_of_elements(values):
    """The bools are Python's or NumPy's, as the elements are."""
    x = np.zeros(3)
    got, want = parpy.jit(compared)(x, [*values]), compared(x, [*values])
    assert as_lists(got) == as_lists(want)
    assert classes(got) == classes(want)


def test_conditions_with_elements_are_compiled():
    with warnings.catch_warnings():
        warnings.simplefilter("error", parpy.PerformanceWarning)
        got = parpy.jit(compared_in_conditions)(np.zeros(3), [1.5])
    assert got == compared_in_conditions(np.zeros(3), [1.5])


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
@pytest.mark.parametrize(
    "values", [[True, False], [np.True_, np.True_], [True, np.True_], [1, True], [True, 2.5]], ids=str
)
def test_bools_that_are_given(values):
    x = np.zeros(3)
    got, want = parpy.jit(continued)(x, [*values]), continued(x, [*values])
    assert got == want
    assert classes(got) == classes(want)


@pytest.mark.parametrize("backend", TARGETS)
def test_identity_with_a_bool(backend):
    @parpy.jit
    def asked(x, flags, n):
        number = x[0] > 0
        seen = False
        for i in range(n):
            seen = True
        asked = x[0] is True, number is True, (n > 0) is True, flags is True
        return *asked, x is True, n is not False, seen is True

    def check(*given):
        assert asked(*given, opts=options(backend, {})) == asked(*given, seq=True)

    for x in (np.array([True, False]), np.array([1.5, 2])):
        for flag in (True, False, np.True_, np.False_, 1):
            for n in (0, 1, 2):
                check(x, flag, n)


@pytest.mark.parametrize("backend", TARGETS)
def test_bools_of_either_kind_are_not_asked(backend):
    @parpy.jit
    def found(x, n):
        seen = n > 0
        x[0] = 7
        for i in range(len(x)):
            if x[i] > 1:
                seen = x[i] > 2
        return 1 if seen is True else 0

    x = np.array([1.0, 3.0])
    for n in (0, 1, 2):
        with pytest.raises(
            parpy.CompileError, match=r"P232\]: 'seen is True' asks about a bool that may be NumPy's or"
        ):
            found(x, n, opts=options(backend, {}))
    assert x[0] == 1
