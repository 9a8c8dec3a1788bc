"""An assignment to several targets evaluates all of its values before the first store, also those of whole arrays."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import BACKENDS, run


@parpy.jit
def whole_arrays(x, y, out):
    x[:], y[:] = y * 2, x * 3


@parpy.jit
def copies(x, y, out):
    x[:], y[:] = y.copy(), x.copy()


@parpy.jit
def parts_of_one_array(x, y, out):
    a = x[:3]
    b = x[3:]
    a[:], b[:] = b * 2, a + 1


@parpy.jit
def parts_from_a_helper(x, y, out):
    a, b = halves(x)
    a[:], b[:] = b + 1, a.sum()


@parpy.jit
def halves(x):
    return x[:3], x[3:]


@parpy.jit
def a_sum_behind_a_store(x, y, out):
    x[:], total = y + 1, x.sum()
    out[0] = total


@parpy.jit
def a_sum_behind_an_element(x, y, out):
    x[0], (y[0], out[0]) = 50.0, (np.max(x), x @ y)


@parpy.jit
def names_of_the_arrays_themselves(x, y, out):
    x[:], y[:] = y, x


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "function",
    [
        whole_arrays,
        copies,
        parts_of_one_array,
        parts_from_a_helper,
        a_sum_behind_a_store,
        a_sum_behind_an_element,
        names_of_the_arrays_themselves,
    ],
)
def test_values_are_those_in_front_of_the_stores(function, backend):
    if function is parts_from_a_helper and backend == "eval":
        pytest.skip("Python runs a part of it, which the interpreter does not")
    given = [np.arange(6.0), np.arange(6.0)[::-1] * 10, np.zeros(1)]
    want = [a.copy() for a in given]
    function(*want, seq=True)
    run(backend, function, tuple(given), {})
    for a, b in zip(want, given, strict=True):
        np.testing.assert_array_equal(b, a)
