"""Functions that call themselves and return a parameter: Python returns it, compiled code makes the recursive calls."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import parpy


@parpy.jit
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


@parpy.jit
def chosen(n):
    return n if n < 2 else chosen(n - 1) + chosen(n - 2)


@parpy.jit
def greatest_divisor(a, b):
    if b == 0:
        return a
    return greatest_divisor(b, a % b)


@parpy.jit
def shown(n):
    if n < 2:
        return n
    print(n, end=" ")
    return shown(n - 1)


def calls_of_python(function, *arguments):
    """The number of Python functions that run in a call."""
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        function(*arguments)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("function", [fibonacci, chosen])
def test_compiled_code_makes_the_recursive_calls(function):
    assert [function(n) for n in range(-1, 16)] == [-1, 0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610]
    assert calls_of_python(function, 15) < 100  # Python itself makes 1973


def test_parameters_that_are_returned_keep_their_types():
    assert isinstance(fibonacci(1), int)
    assert isinstance(fibonacci(np.int32(1)), np.int32)
    assert isinstance(fibonacci(np.int32(9)), np.int32)
    assert fibonacci(9.0) == 34.0
    assert greatest_divisor(2**40 * 3, 2**38 * 5) == 2**38
    array = np.arange(3)
    assert greatest_divisor(array, 0) is array


def test_recursive_calls_with_effects_of_python_are_pythons(capsys):
    assert shown(5) == 1
    assert capsys.readouterr().out == "5 4 3 2 "


def test_recursion_without_end():
    with pytest.raises(RecursionError):
        fibonacci(10**7)
