"""Statements and expressions compute Python's results: each function here runs both ways."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parpy

K = 3
TENTH = np.float32(0.1)


def inc(c, by=1):
    c[0] += by
    return c[0]


def twice(a):
    return a * 2 - 1


def swap(x, n):
    a, b = 1.0, 2.0
    for _ in range(n):
        a, b = b, a + b
    x[0] = a
    x[1], x[2] = x[2], x[1]
    i, x[i + 1] = 3, 7
    x[4] = i


def chained(x, n):
    a = b = n * 2
    x[0] = a + b
    x[1] = 0 < n < 5 < 9
    x[2] = 0 < twice(n) < 5
    x[3] = (n > 2 and 0 < twice(n) < 5) or n
    k = 0
    while 0 < twice(k) + 2 < 7:
        k += 1
    x[4] = k


def effects_happen_once_and_in_order(x, n):
    x[0] = 0
    t = 0 < inc(x) < 5
    x[3] = t
    u = n > 100 and 0 < inc(x, 10) < 50
    x[4] = u
    v = inc(x) or inc(x, by=100)
    x[5] = v
    w = (inc(x) if n > 2 else inc(x, 1000)) + 1
    x[6] = w
    inc(x, 2)


def truth(x, n):
    x[0] = n and 2.5
    x[1] = 0 or n
    x[2] = not n
    x[3] = (n or 2) + (n - n and 3)
    if (n and 2.5) or 0:
        x[4] = 1
    s = True
    for i in range(n):
        s = s and x[i] >= 0
    x[5] = s


def numbers(x, n):
    m = n + 1
    x[0] = -7 // m + -7 % m
    x[1], x[2] = divmod(-7, m)
    x[3] = round(2.5) + round(-3.5) + int(-2.7) + float(3)
    x[4] = math.floor(-2.5) + math.ceil(-2.5) + math.trunc(-2.5)
    x[5] = max(1, n, 2.5) - min(n, 0.5, 2)
    x[6] = math.hypot(3, 4, 12) + math.log(8, 2) + math.fabs(-3)
    x[7] = TENTH * n + K
    x[8] = np.where(n > 2, 1.5, 2) + np.clip(n, 0, 2)
    x[9] = np.float32(0.1) + np.int8(3) + abs(-n) + pow(n, 2) + len(x) + x.size + x.ndim


def flow(x, n):
    for i in range(n, -1, -2):
        if i == 3:
            continue
        x[i] = i
    for i in range(10):
        if i == n:
            break
    x[9] = i
    t = 0
    while True:
        t += 1
        if t > n:
            break
    x[8] = t
    x[-1] += x[-3]
    last = 0
    for i in range(n):
        if i > 0:
            x[5] = last
        last = i * 2


FUNCTIONS = [swap, chained, effects_happen_once_and_in_order, truth, numbers, flow]


@pytest.mark.parametrize("n", [0, 1, 3, 6])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_same_as_python(function: Callable[..., Any], n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    want = np.linspace(-1, 1, 10)
    got = want.copy()
    function(want, n)
    for helper in (inc, twice):
        monkeypatch.setitem(globals(), helper.__name__, parpy.jit(helper))
    parpy.jit(function)(got, n)
    np.testing.assert_allclose(got, want, rtol=1e-12)


def test_changed_globals_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    @parpy.jit
    def f(x):
        x[0] = K + twice(1)

    x = np.zeros(1)
    monkeypatch.setitem(globals(), "twice", parpy.jit(twice))
    f(x)
    assert x[0] == 4
    monkeypatch.setitem(globals(), "K", 5.5)
    f(x)
    assert x[0] == 6.5
    monkeypatch.setitem(globals(), "twice", parpy.jit(lambda_like))
    f(x)
    assert x[0] == 105.5


def lambda_like(a):
    return a * 100


def test_dict_arguments_and_defaults() -> None:
    @parpy.jit
    def f(d, n=2, *, scale=1.0):
        for i in range(n):
            d["y"][i] = d["x"][i] * scale

    d = {"x": np.arange(4.0), "y": np.zeros(4)}
    f(d)
    assert d["y"].tolist() == [0, 1, 0, 0]
    f(d, 4, scale=2.0)
    assert d["y"].tolist() == [0, 2, 4, 6]


def single_aliases(x, z):
    exp = math.exp
    s = z.shape
    f32 = np.float32
    top = math
    for i in range(s[0]):
        for j in range(s[-1]):
            x[0] += exp(z[i, j])
    rows, columns = s
    x[1] = rows * columns + len(s) + f32(0.1)
    x[2] = top.sin(x[1])


def test_local_names_for_functions_and_shapes() -> None:
    want, got = np.arange(3.0) + 1, np.arange(3.0) + 1
    function = parpy.jit(single_aliases)
    function(want, np.ones((2, 3)), seq=True)
    function(got, np.ones((2, 3)))
    np.testing.assert_allclose(got, want, rtol=1e-14)


@parpy.jit
def alias_assigned_in_a_branch(x):
    if x[0] > 0:
        exp = math.exp
    x[0] = exp(x[0])


@parpy.jit
def alias_used_before(x):
    x[0] = exp(x[0])  # noqa: F821
    exp = math.exp
    x[1] = exp(x[1])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (alias_assigned_in_a_branch, "'exp' is the function 'exp' or something else"),
        (alias_used_before, "'exp' is used before it is assigned"),
    ],
)
def test_names_that_may_have_no_function(function, message) -> None:
    with pytest.raises(parpy.CompileError, match=message):
        function(np.ones(2), opts=parpy.par({}))


@parpy.jit
def elements_of_pairs(x, k):
    x[0] = divmod(k, 5)[0] * 3
    x[1] = divmod(k, 5)[-1]
    x[2] = math.frexp(x[3])[1]
    x[3:] = divmod(x[3:], 2)[1]


@parpy.jit
def exchanged_slices(x, y, k):
    x[:2], x[2:4] = x[2:4], x[:2]
    k, y[k:] = 2, 8
    y[0], y[1:3], n = x[4] * 3, k, 7
    x[4] = n


def test_elements_of_pairs_and_slices_as_several_targets() -> None:
    want, got = np.arange(6.0) + 3, np.arange(6.0) + 3
    elements_of_pairs(want, 17, seq=True)
    elements_of_pairs(got, 17)
    assert np.array_equal(got, want)
    wants, gots = (want, want[::-1].copy()), (got, got[::-1].copy())
    exchanged_slices(*wants, 2, seq=True)
    exchanged_slices(*gots, 2)
    assert np.array_equal(gots, wants)
