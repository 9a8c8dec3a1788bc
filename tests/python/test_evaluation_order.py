"""Operands are evaluated from the left, whatever the calls between them do to the elements they read."""

from __future__ import annotations

import math

import numpy as np
import pytest

import parpy

CPU = parpy.CompileOptions(backend=parpy.CompileBackend.Cpu)


@parpy.jit
def bump(c):
    c[0] += 10
    return 0


@parpy.jit
def rise(c):
    c[0] += 10
    return c[0]


@parpy.jit
def pair(a, b):
    return 100 * a + b


@parpy.jit
def in_a_sum(c, out):
    out[0] = c[0] + (bump(c) or 3) + c[0] * (bump(c) or 2)


@parpy.jit
def in_a_choice(c, out):
    out[0] = c[0] * 2 + (1 if bump(c) == 0 else 2) + c[0] + (bump(c) and 2)


@parpy.jit
def in_a_comparison(c, out):
    out[0] = c[0] < (bump(c) or 5)
    out[1] = c[0] > 3 < (bump(c) or c[0])


@parpy.jit
def in_a_call(c, out):
    out[0] = max(c[0], (bump(c) or 4), c[0])
    out[1] = pair(c[0], bump(c) or c[0])


@parpy.jit
def in_keywords(c, out):
    out[0] = pair(b=c[0], a=rise(c)) + c[0]
    out[1] = pair(b=rise(c), a=rise(c))
    while pair(b=c[0], a=rise(c)) < 9000:
        out[1] += 1
    out[1] += c[0] > 3 and pair(b=c[0], a=rise(c)) > 9


@parpy.jit
def in_a_function_of_floats(c, out):
    out[0] = 1000 * math.atan2(c[0], bump(c) or c[0])
    out[0] += 1000 * math.hypot(c[0], bump(c) or c[0])
    out[1] = 1000 * math.log(c[0], bump(c) or c[0])
    out[1] += np.logical_and(c[0] - 31, bump(c) or c[0])


@parpy.jit
def in_a_power(c, out):
    out[0] = c[0] ** (bump(c) or c[0] - 8) + c[0]
    out[1] = (bump(c) or 2) ** c[0]


@parpy.jit
def in_an_update(c, out):
    out[0] = 1
    c[0] += (bump(c) or 3) * 2 ** c[0]
    c[0] **= bump(c) or 1
    out[1] = c[0]


@pytest.mark.parametrize(
    "function",
    [
        in_a_sum,
        in_a_choice,
        in_a_comparison,
        in_a_call,
        in_keywords,
        in_a_function_of_floats,
        in_a_power,
        in_an_update,
    ],
)
def test_elements_are_read_before_a_later_call_changes_them(function):
    results = []
    for how in ({"seq": True}, {"opts": CPU}):
        c, out = np.array([1], np.int64), np.zeros(2, np.int64)
        function(c, out, **how)
        results.append((c.tolist(), out.tolist()))
    assert results[0] == results[1]


@parpy.jit
def factorial(n):
    return 1 if n <= 0 else n * factorial(n - 1)


@parpy.jit
def is_even(n):
    return n == 0 or is_odd(n - 1)


@parpy.jit
def is_odd(n):
    return n != 0 and is_even(n - 1)


@parpy.jit
def recursive(out):
    out[0] = factorial(5)
    out[1] = is_even(10)
    out[2] = is_odd(4)


def test_results_of_functions_that_call_themselves_in_an_expression():
    out = np.zeros(3)
    recursive(out, opts=CPU)
    assert out.tolist() == [120, 1, 0]
