"""`match` statements in kernels, universal functions and loops: the branches that Python chooses."""

from __future__ import annotations

import enum
import warnings

import numpy as np
import pytest

import parpy
import parpy.cuda as cuda

pytestmark = pytest.mark.usefixtures("simulator")


class Sort(enum.IntEnum):
    FIRST = 1
    SECOND = 2


def values(v):
    match v:
        case 0:
            return 10
        case 1 | 2 | -3:
            return 20
        case 4.0:
            return 25
        case n if n < 0:
            return -n
        case 7 as seven:
            return 2 * seven
        case n:
            return n


def members(v):
    found = 5
    match v + 1:
        case Sort.FIRST:
            found = 1
        case Sort.SECOND | 5:
            found += 1
    return found


def tuples(v):
    match (v % 2, v % 3):
        case (0, 0):
            return 6
        case (0, _):
            return 2
        case [_, 0]:
            return 3
        case (_, _, _):
            return -1
        case (a, b):
            return 10 * a + b


def swapped(v):
    a, b = v, v + 1
    match (a, b):
        case (0, 1) | (3, 4):
            return 100
        case (b, a) if b > 4:
            return 10 * a + b
        case (b, a):
            return 1000 * a + b


def nested(v):
    total = 0
    match v % 4:
        case 0:
            match v:
                case 4:
                    total = 40
                case m if m > 4 and m != 8:
                    total = m
        case r if r == 1 or v == 2:
            total = r + 1
            if v > 5:
                total += 100
        case _ if v == 3:
            total = 33
    return total


def in_loops(v):
    total = 0
    for i in range(6):
        match i:
            case 1:
                continue
            case n if n > v:
                break
            case _:
                total += i
    return total


FUNCTIONS = [values, members, tuples, swapped, nested, in_loops]
X = np.arange(-4, 10)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("place", ["kernel", "ufunc", "loop"])
def test_branches(function, place):
    wanted = [function(int(v)) for v in X]
    found = np.zeros(X.size, np.int64)
    if place == "kernel":
        device = cuda.jit(device=True)(function)

        @cuda.jit
        def kernel(x, y):
            i = cuda.grid(1)
            if i < x.shape[0]:
                y[i] = device(x[i])

        kernel[1, 32](X, found)
    elif place == "ufunc":
        found = parpy.vectorize(["int64(int64)"])(function)(X)
    else:
        called = parpy.jit(function)

        @parpy.jit
        def loop(x, y):
            for i in range(x.shape[0]):
                y[i] = called(x[i])

        with warnings.catch_warnings():
            warnings.simplefilter("error")  # no part is left to Python
            loop(X, found)
    np.testing.assert_array_equal(found, wanted)


def test_subjects_are_evaluated_once():
    @cuda.jit
    def kernel(count, y):
        i = cuda.grid(1)
        match cuda.atomic.add(count, 0, 1):
            case 0 | 1:
                y[i] = 5
            case n if n % 2:
                y[i] = n
            case n:
                y[i] = -n

    count, y = np.zeros(1, np.int64), np.zeros(8, np.int64)
    kernel[1, 8](count, y)
    assert count[0] == 8 and sorted(y.tolist()) == [-6, -4, -2, 3, 5, 5, 5, 7]


def test_absent_arguments():
    @cuda.jit
    def kernel(x, y):
        i = cuda.grid(1)
        match y:
            case None:
                x[i] = 1
            case _:
                x[i] = y[i]

    x = np.zeros(4)
    kernel[1, 4](x, None)
    assert x.tolist() == [1] * 4
    kernel[1, 4](x, np.arange(4.0))
    assert x.tolist() == [0, 1, 2, 3]


def test_names_of_failed_guards():
    """After a guard fails its names keep the subject, so that Python runs such a function."""

    @parpy.jit
    def function(v):
        n = -1
        match v:
            case n if n > 5:
                return 100
            case 2:
                return n
        return 10 * n

    assert [function(v) for v in (9, 2, 3)] == [100, 2, 30]

    @cuda.jit
    def kernel(x):
        n = -1
        match x[0]:
            case n if n > 5:
                x[0] = 100
            case _:
                x[0] = 10 * n

    with pytest.raises(parpy.CompileError, match="this 'match' cannot be compiled"):
        kernel[1, 1](np.zeros(1))


@pytest.mark.parametrize("pattern", ["int()", "[1, *rest]", "{'a': 1}", "True", "(1, n)", "(1 as n) | (2 as n)"])
def test_other_patterns(pattern, tmp_path):
    text = f"""
def kernel(x):
    match x[0]:
        case {pattern}:
            x[0] = 2
"""
    file = tmp_path / "patterns.py"
    file.write_text(text)
    names = {}
    exec(compile(text, str(file), "exec"), names)
    with pytest.raises(parpy.CompileError, match="this 'match' cannot be compiled"):
        cuda.jit(names["kernel"])[1, 1](np.zeros(1))


@parpy.jit
def guarded_by_a_walrus(a, b):
    match a:
        case 5 if (a := 6) > 100:
            return 1
        case 5:
            return 2
        case 6:
            return 3
    match (a, b):
        case (6, 2) if (b := 7) > 100:
            return 4
        case (6, 7):
            return 5
    return 6


def test_names_that_a_guard_assigns():
    """The subject is evaluated once."""
    plain = guarded_by_a_walrus.__wrapped__
    for a in range(4, 8):
        for b in (2, 7):
            assert guarded_by_a_walrus(a, b) == plain(a, b)
