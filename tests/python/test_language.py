"""Statements and expressions compute what Python computes: each function here runs both ways."""

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
