"""Functions of which Python runs a part: mistakes in types are told before anything runs, where they are certain."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import options

CPU = options("cpu", {})


@parpy.jit
def behind_an_allocation(x, y):
    for i in range(len(x)):
        x[i] += 1
    z = np.zeros(len(x))
    for i in range(len(x)):
        z[i] = x[i]
        z[i] = y[i, 0]
    return z


@parpy.jit
def in_a_function_with_a_part_of_its_own(x, y):
    for i in range(len(x)):
        x[i] += 1
    return behind_an_allocation(x, y)


@pytest.mark.parametrize("function", [behind_an_allocation, in_a_function_with_a_part_of_its_own])
def test_types_are_checked_before_anything_runs(function):
    x = np.zeros(3)
    with pytest.raises(parpy.CompileError, match="'y' has 1 dimension, but 2 subscripts") as error:
        function(x, np.ones(3), opts=CPU)
    assert "z[i] = y[i, 0]" in str(error.value)
    assert not x.any()
    function(x, np.ones((3, 1)), opts=CPU)
    assert x.all()
    with pytest.raises(parpy.CompileError, match="2 subscripts"):  # other types, the same function
        function(x, np.ones(3, np.float32), opts=CPU)


@parpy.jit
def not_reached(x, y, n):
    for i in range(len(x)):
        x[i] += 1
    if n > 3:
        z = np.zeros(n)
        for i in range(n):
            z[i] = y[i, 0]
    while n > 4:
        w = np.zeros(n)
        w[0] = y[0, 0]
        n -= 1
    return x


def test_branches_that_are_not_taken():
    x = np.zeros(3)
    not_reached(x, np.ones(3), 2, opts=CPU)
    assert x.tolist() == [1, 1, 1]
    with pytest.raises(parpy.CompileError, match="2 subscripts"):
        not_reached(x, np.ones(3), 4, opts=CPU)
    assert x.tolist() == [1, 1, 1]


@parpy.jit
def depends_on_what_is_computed(x, y):
    s = 0.0
    for i in range(len(x)):
        s += x[i]
        x[i] = 5
    if x[0] < 4 or s > 100:
        z = np.zeros(3)
        z[0] = y[0, 0]
        return z
    z = np.full(3, s)
    for i in range(3):
        z[i] += s
    return z


def test_what_the_run_decides_is_left_to_it():
    assert depends_on_what_is_computed(np.ones(3), np.ones(3), opts=CPU).tolist() == [6, 6, 6]
    with pytest.raises(parpy.CompileError, match="2 subscripts"):
        depends_on_what_is_computed(np.full(3, 100.0), np.ones(3), opts=CPU)


calls = []


@parpy.callback
def noted(x):
    calls.append(x.sum())


@parpy.jit
def with_a_callback(x):
    noted(x)
    z = np.zeros(len(x))
    for i in range(len(x)):
        z[i] = 2 * x[i]
    return z


def test_nothing_runs_twice():
    for _ in range(3):
        assert with_a_callback(np.ones(3), opts=CPU).tolist() == [2, 2, 2]
    assert calls == [3, 3, 3]
