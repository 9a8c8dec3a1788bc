"""Sums in the order of the parts beside other exchanges: each call ends, with the bits of one device."""

from __future__ import annotations

import copy
import threading

import numpy as np
import pytest

import parpy

CPU = parpy.CompileBackend.Cpu
LIMIT = 60.0  # seconds


def count_and_sum(x):
    count = 0
    s = 0.0
    for i in range(len(x)):
        if x[i] > 0.5:
            count += 1
        s += x[i]
    return s + count


def sum_in_an_element(a, c, h):
    for i in range(len(c)):
        c[i] = a[i]
    for i in range(1, len(c) - 1):
        h[0] += c[i - 1] * c[i + 1]


def sum_beside_returned_rows(a, c):
    s = 0.0
    for i in range(len(c)):
        c[i] = a[i]
    for i in range(len(c) - 1):
        s += a[i]
        a[i] = a[i] * 2.0
        c[i + 1] = 1.0
    return s


def counts_and_sum(n, c):
    s = 0.0
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            n[2] += c[i, j] > 0.5
            s += c[i, j]
    return s


def data(function):
    rng = np.random.default_rng(5)
    return {
        count_and_sum: (rng.random(101),),
        sum_in_an_element: (rng.random(50), np.zeros(50), np.zeros(3)),
        sum_beside_returned_rows: (rng.random(40), np.zeros(40)),
        counts_and_sum: (np.zeros(4, np.int64), rng.random((20, 7))),
    }[function]


@pytest.mark.parametrize("devices", [(0, 1), (0, 1, 2), (0, 1, 2, 3, 4)])
@pytest.mark.parametrize(
    "function", [count_and_sum, sum_in_an_element, sum_beside_returned_rows, counts_and_sum], ids=lambda f: f.__name__
)
def test_sums_in_order(function, devices):
    one, all_ = data(function), copy.deepcopy(data(function))
    want = parpy.jit(function)(*one, opts=parpy.auto(backend=CPU, deterministic=True))
    found = []

    def call():
        found.append(parpy.jit(function)(*all_, opts=parpy.auto(backend=CPU, deterministic=True, devices=devices)))

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(LIMIT)
    assert found == [want]
    for x, y in zip(one, all_, strict=True):
        np.testing.assert_array_equal(x, y)
