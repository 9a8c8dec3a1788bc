"""`(a := v)` in conditions and other expressions, against Python."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options
from results import same


def square(v):
    return v * v


def in_heads(x, n):
    i, s, best, k = 0, 0, -1.0, 0
    while (i := i + 1) < n:
        s += i
    for j in range(x.size):
        if (m := x[j]) > best:
            best = m
    while (v := x[k]) < 3 and (k := k + 1) < 10:
        s += v
    for w in (r := x * 2):
        s += w
    r[0] = 7
    return s, i, best, m, v, k, r[0]


def in_order(x, n):
    a = 5
    b = a + (a := 3) * a
    c = (d := 2) + d
    e = square(a := a + 1) + a, a - (a := a * 10), (a := 2) < a < (a := 5), a
    k = 0
    x[(k := k + 1)] = k
    x[k] += (k := 2)
    return a, b, c, d, e[0], e[1], e[2], e[3], k


def at_times(x, n):
    f = 7.0
    c = 0.0
    if n > 2 and (e := x[1]) > 0 and e < 4:
        c = e
    ok = n > 5 and (f := x[2]) > 0
    z = x[n - 1] if (n := n - 1) > 0 else x[n]
    found = any((y := v) > 2 for v in x)
    return c, ok, f, z, n, found, y, sum(q := x[:3]) + q[1], (u := 3) * u


@pytest.mark.parametrize("function", [in_heads, in_order, at_times], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [1, 3, 6])
@pytest.mark.parametrize("backend", TARGETS)
def test_as_python(backend, n, function):
    want, got = (np.array([1.0, 0.5, 2.0, 4.0, 3.0, 1.0]) for _ in range(2))
    expected = function(want, n)
    assert same(parpy.jit(function)(got, n, opts=options(backend, {})), expected)
    np.testing.assert_array_equal(got, want)


def test_between_parts_that_python_runs():
    def counted(x):
        k = 4
        print(end="")
        ok = x[0] > 5 and (k := 2) > 1
        print(end="")
        if (m := k + 1) > 3:
            print(end="")
            k += m
        return k, ok

    for first in (1.0, 9.0):
        x = np.full(3, first)
        assert parpy.jit(counted)(x) == counted(x)


def in_a_condition(x, n):
    y = np.zeros(3)
    i = 0
    while (y := x * i).sum() < 10:
        i += 1
    return y


def in_a_value(x, n):
    y = np.zeros(3)
    w = y
    for i in range(n):
        w = (y := x + i) * 2
    return y, w


def in_some_operands(x, n):
    z = 0.0
    for i in range(n):
        if i > 1 and (k := x[i]) > 0:
            z += k
    found = any((v := e) > 2 for e in x[:n])
    c = (m := 2.0) if n > 2 else (p := 3.0)
    print(end="")
    if n > 2:
        return k, z, found, v, c, m
    if n > 0:
        return z, found, v, c, p
    return z, found, c, p


@pytest.mark.parametrize("function", [in_a_condition, in_a_value, in_some_operands], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [0, 1, 3])
def test_what_has_another_value_or_none_before(n, function):
    x = np.array([1.0, 2.0, 3.0])
    got, expected = parpy.jit(function)(x, n), function(x, n)
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_lists_and_dicts_are_made_in_front_of_later_assignments():
    def of_list(k):
        return [k, 2, k], (k := 10)

    def of_dict(k):
        return {"a": k, "b": (k := 10)}

    for function in (of_list, of_dict):
        assert parpy.jit(function)(5) == function(5)
