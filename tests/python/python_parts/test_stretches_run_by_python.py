"""Stretches between Python's statements that compiled code lacks for a call's arguments: Python runs them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import parpy
from parpy import threads


def several_arrays(x, y):
    seen = []
    seen.append(1)
    t = x
    parpy.label("i")
    for _ in range(3):
        t += 1
        y[0] += x[0]
        t = t * 2
    seen.append(2)
    return t, seen


def test_python_runs_it_with_a_warning():
    compiled = parpy.jit(several_arrays)
    for turn in range(2):
        want, got = (np.ones(4), np.ones(2)), (np.ones(4), np.ones(2))
        expected = several_arrays(*want)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            result = compiled(*got)
        np.testing.assert_array_equal(result[0], expected[0])
        assert result[1] == expected[1]
        for ours, theirs in zip(got, want, strict=True):
            np.testing.assert_array_equal(ours, theirs)
        assert any("'t' refers to several arrays" in str(each.message) for each in told) == (turn == 0)


@pytest.mark.parametrize("size", [0, 1])
def test_arrays_of_few_elements(size):
    for function in (several_arrays, parpy.jit(several_arrays)):
        with pytest.raises(IndexError):
            function(np.ones(size), np.ones(0))


def test_a_mapped_stretch_is_refused():
    x, y = np.ones(4), np.ones(2)
    with pytest.raises(parpy.CompileError, match="P217"):
        parpy.jit(several_arrays)(x, y, opts=parpy.par({"i": threads(2)}))
    assert (x == 1).all() and (y == 1).all()


class Stopped(ValueError):
    pass


def raises_its_own(x):
    seen = []
    seen.append(1)
    t = x
    for i in range(3):
        t += 1
        if t[0] > 2:
            raise Stopped(f"at {i}")
        t = t * 2
    seen.append(2)


def test_exceptions_of_the_function_are_its_own():
    want, got = np.ones(2), np.ones(2)
    with pytest.raises(Stopped, match="at 1"):
        raises_its_own(want)
    with pytest.raises(Stopped, match="at 1"):
        parpy.jit(raises_its_own)(got)
    np.testing.assert_array_equal(got, want)


def another_name_at_first(x, n):
    y = x
    for _ in range(n):
        y = y + x
        x[0] += 1
    return y


def read_before_it_is_set(x, n):
    y = np.zeros(4)
    for i in range(n):
        if i > 0:
            y = y + t * 2  # noqa: F821
        t = y
        t[0] += 1
        x[:] = t
    return y, t


@pytest.mark.filterwarnings("ignore:(?s).*P315:parpy.PerformanceWarning")
@pytest.mark.parametrize("function", [another_name_at_first, read_before_it_is_set])
def test_names_that_have_no_value_or_another_array_at_first(function):
    compiled = parpy.jit(function)
    for n in (3, 1, 3):
        want, got = np.arange(4.0), np.arange(4.0)
        expected, result = function(want, n), compiled(got, n)
        np.testing.assert_array_equal(result, expected)
        np.testing.assert_array_equal(got, want)
    x = np.arange(4.0)
    assert another_name_at_first(x, 0) is x
    assert parpy.jit(another_name_at_first)(x, 0) is x


def chosen_function(x, n):
    s = 1.5
    seen = [1]
    seen.append(2)
    f = lambda v: v * 0.5  # noqa: E731
    if n > 1:
        f = lambda v: v * s + x[0]  # noqa: E731
    s = f(1.0)
    seen.append(3)
    s = f(1.0)
    return s, seen


def test_functions_do_not_leave_a_stretch_with_variables_of_it():
    with pytest.raises(parpy.CompileError, match="'f' is a lambda or a lambda"):
        parpy.jit(chosen_function)(np.ones(3), 2)
