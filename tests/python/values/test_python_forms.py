"""Forms of Python that are other ones to compiled code, against Python: constants of texts."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import parpy
from backends import TARGETS, copies, options
from results import same


def of_texts(x, mode):
    n = 0
    for i in range(x.shape[0]):
        if x[i] == ord("A") or x[i] == b"abC"[2]:
            n += 1
        if mode == "abc":
            n += len("abc") * len(b"ab")
        if mode != "x" and mode in ("abc", "d"):
            x[i] += 1
    return n


GIVEN = {of_texts: (np.array([65, 66, 67], np.uint8), "abc")}


@pytest.mark.parametrize("function", GIVEN, ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", TARGETS)
def test_as_python(backend, function):
    want, got = copies(GIVEN[function]), copies(GIVEN[function])
    expected = function(*want)
    with warnings.catch_warnings():
        warnings.simplefilter("error", parpy.PerformanceWarning)  # Python runs no loop
        result = parpy.jit(function)(*got, opts=options(backend, {}))
    assert same(result, expected), (result, expected)
    assert same(got, want)


def test_a_name_that_hides_pythons_function():
    def ord(text):
        return 7.0

    def own():
        return ord("A")

    assert parpy.jit(own)() == 7
