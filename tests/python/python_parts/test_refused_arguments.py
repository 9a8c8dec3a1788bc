"""What compiled code refuses for some arguments, Python runs for arguments of these types and dimensions alone."""

from __future__ import annotations

import sys
import warnings
from collections import Counter

import numpy as np
import pytest

import parpy


def run_by_python(function, *arguments):
    """The result of the call, and how often Python ran functions of NumPy and of this file for it, by their names."""
    names = Counter()

    def note(frame, event, _):
        file = frame.f_code.co_filename
        if event == "call" and ("numpy" in file or file == __file__):
            names[frame.f_code.co_name] += 1

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sys.setprofile(note)
        try:
            result = function(*arguments)
        finally:
            sys.setprofile(None)
    return result, names


def digits(x, bins):
    n = 0
    for _ in range(3):
        n += np.digitize(x, bins).sum()
    return n


def digits_between_statements(x, bins):
    seen = []
    seen.append(np.linalg.norm(bins))
    n = 0
    for _ in range(3):
        n += np.digitize(x, bins).sum()
    seen.append(n)
    return seen


BINS = np.arange(3.0)
ROW, MATRIX = np.array([0.5, 1.5]), np.array([[0.5, 1.5], [2.0, 3.0]])
GIVEN = [ROW, MATRIX, ROW.astype(np.float32), MATRIX.astype(np.float32)]


@pytest.mark.parametrize("function", [digits, digits_between_statements])
@pytest.mark.parametrize("order", [(0, 1, 0, 1), (1, 0, 1, 0), (3, 1, 0, 2, 1, 3, 0), (2, 0, 3, 1, 2)])
def test_calls_with_other_arguments_are_compiled(function, order):
    compiled = parpy.jit(function)
    for each in order:
        result, names = run_by_python(compiled, GIVEN[each], BINS)
        assert result == function(GIVEN[each], BINS)
        assert ("digitize" in names) == (GIVEN[each].ndim == 2)


def replaced(x, y):
    seen = []
    seen.append(1)
    t = x
    for _ in range(3):
        t += 1
        y[0] += 1
        t = t * 2
    seen.append(2)
    return t, seen


@pytest.mark.parametrize("order", ["na", "ann", "nan"])
def test_stretches_with_other_arguments_are_compiled(order):
    compiled = parpy.jit(replaced)
    for each in order:
        x = 2.0 if each == "n" else np.ones(4)
        (value, seen), names = run_by_python(compiled, x, np.zeros(2))
        expected = replaced(2.0 if each == "n" else np.ones(4), np.zeros(2))
        np.testing.assert_array_equal(value, expected[0])
        assert seen == expected[1]
        assert names["replaced"] == (1 if each == "n" else 2)  # the function, and the stretch
