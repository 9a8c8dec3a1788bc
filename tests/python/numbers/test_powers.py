"""Powers of integers: a negative exponent at run time raises ValueError when the power is evaluated."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from failing import LAST, agrees, backend  # noqa: F401


@parpy.jit
def powers(x, k, least):
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i] = x[i] + 2 ** k[i] if k[i] >= least else -1


@parpy.jit
def power_in_a_condition(x, k):
    parpy.label("i")
    for i in range(x.shape[0]):
        j = 0
        while j < 3 and 3 ** k[i] > j:
            j += 1
        x[i] = j


@parpy.jit
def power_updates(x, k):
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i] **= k[i]
        t = 3
        t **= k[i]
        x[i] += t


@parpy.jit
def power_in_a_reduced_subscript(x, k):
    parpy.label("i")
    for i in range(8):
        x[2 ** k[0] - 1] += i


@parpy.jit
def power_in_a_range(x, k):
    parpy.label("i")
    for i in range(x.shape[0]):
        for j in range(2 ** k[i]):
            if j == 1:
                continue
            x[i] += j


@pytest.mark.parametrize("function", [power_updates, power_in_a_reduced_subscript, power_in_a_range])
def test_powers_are_guarded_wherever_they_stand(function):
    x = np.full(3, 2)
    assert agrees(function, (x, np.array([1, 2, 3])), i=32) is None
    assert isinstance(agrees(function, (x, np.array([-1, 2, 3])), i=32), ValueError)


@pytest.mark.parametrize("exponents", [[0, 3, 62], [1, -1, 2], [5, 6, -(2**63)]])
def test_negative_powers_of_integers_raise_where_they_are_evaluated(exponents):
    x, k = np.ones(3, np.int64), np.array(exponents)
    raised = agrees(powers, (x, k, -LAST), i=32)
    assert (raised is not None) == (min(exponents) < 0)
    if raised is not None:
        assert isinstance(raised, ValueError)
        assert f"negative power {min(exponents)}" in str(raised)
    assert agrees(powers, (x, k, 0), i=32) is None
    assert (agrees(power_in_a_condition, (x, k), i=32) is not None) == (min(exponents) < 0)


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "float64"])
def test_powers_keep_their_types(dtype):
    """These exponents are not negative; unsigned exponents and floats cannot fail."""
    x, k = np.ones(4, dtype), np.array([0, 1, 2, 3], dtype)
    agrees(powers, (x, k, 0), i=32)
    if dtype == "float64":
        assert agrees(powers, (x, -k, -LAST), i=32) is None
