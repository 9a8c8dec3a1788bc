"""Operands are evaluated from the left, even if calls between them change the elements that they read."""

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


# ---------------------------------------------------------------- statements with calls that write their operands


@parpy.jit
def count(c):
    c[0] += 1
    return c[0]


@parpy.jit
def both(c):
    return c[0] * 10 + count(c)


@parpy.jit
def update_by_call(c, y):
    for i in range(4):
        y[c[0]] += count(c)
    c[c[0] - 4] += count(c)
    c[0] += both(c) * 2 + c[0]


@parpy.jit
def update_by_choice(c, y):
    for i in range(4):
        y[c[0]] += count(c) or 3


@parpy.jit
def update_nested(c, y):
    y[both(c) % 5] += both(c) + c[0]


@parpy.jit
def bounds_of_range(c, y):
    for k in range(c[0], c[0] + 3 * count(c)):
        y[k] += 1
    for k in range(count(c), count(c) + 2):
        y[k] += c[0]
    for k in range(len(y) - count(c), c[0], -count(c)):
        y[k] += c[0]


@parpy.jit
def bounds_of_range_by_choice(c, y):
    for k in range(c[0], c[0] + 3 * (count(c) or 1)):
        y[k] += 1


@parpy.jit
def nested_ranges(c, y):
    for i in range(count(c)):
        for j in range(i, count(c), 1 + count(c) % 2):
            y[(i + j) % 8] += c[0]


@parpy.jit
def slices(c, y):
    y[c[0] : c[0] + 2] = count(c)
    y[c[0] : c[0] + 2] = count(c) and 5
    y[c[0] : c[0] + (count(c) and 3)] = c[0]


@parpy.jit
def reduced_slices(c, y):
    y[0] = c[0] + parpy.sum(y[count(c) :])
    y[1] = parpy.sum(y[c[0] :]) + count(c)
    y[2] = parpy.sum(y[c[0] : c[0] + (count(c) and 3)])


@parpy.jit
def masked(c, y):
    y[y[:] > c[0]] = count(c)


@parpy.jit
def stores(c, y):
    y[c[0]] = count(c)
    y[count(c)] = c[0] * 10 + count(c)
    y[count(c)] += c[0] * 10 + count(c)
    y[c[0]] = y[c[0] - 1] = count(c) and 9
    y[7] = y[c[0]] + y[c[0] - (count(c) and 2)] + y[c[0] - 1]


@parpy.jit
def tuples(c, y):
    y[c[0]], y[count(c)] = c[0], count(c)
    c[0], y[c[0]] = count(c), c[0]


@parpy.jit
def conditions(c, y):
    while c[0] + count(c) < 9:
        y[c[0]] += 1
    if c[0] < count(c) or c[0] > 3:
        y[c[0]] = 1


@parpy.jit
def functions(c, y):
    y[0] = max(c[0], count(c), c[0])
    y[1] = abs(c[0] - count(c))
    y[2] = np.where(c[0] > 2, count(c), count(c))
    y[3] = np.where(c[0] > 2, count(c), 7) + c[0]


@parpy.jit
def rows(c, y):
    y[c[0], count(c) and 1] = 7
    y[c[0], count(c) and 1] += c[0]
    y[c[0] - 2, c[1]] += (count(c) and 3) * c[0]
    y[c[0] - 2, :] += count(c)
    y[c[0] - 3, :] += count(c) and 4
    y[3, 1] = y[c[0] - 4, count(c) and 1] + c[0]


@pytest.mark.parametrize("backend", [parpy.CompileBackend.Cpu, parpy.CompileBackend.Sim])
@pytest.mark.parametrize("function", [
    update_by_call, update_by_choice, update_nested, bounds_of_range, bounds_of_range_by_choice, nested_ranges, slices,
    reduced_slices, masked, stores, tuples, conditions, functions, rows,
], ids=lambda f: f.__name__)  # fmt: skip
def test_calls_that_write(function, backend):
    results = []
    for how in ({"seq": True}, {"opts": parpy.CompileOptions(backend=backend)}):
        c, y = np.zeros(3, np.int64), np.arange(8.0).reshape((4, 2) if function is rows else 8)
        function(c, y, **how)
        results.append((c.tolist(), y.tolist()))
    assert results[0] == results[1]


@parpy.jit
def private_counters(c, y):
    parpy.label("i")
    for i in range(y.shape[0]):
        for _ in range(3):
            y[i, c[i, 0]] += step(c, i)


@parpy.jit
def step(c, i):
    c[i, 0] += 1
    return 10 * c[i, 0]


@pytest.mark.parametrize("backend", [parpy.CompileBackend.Cpu, parpy.CompileBackend.Sim])
def test_calls_that_write_in_parallel(backend):
    opts = parpy.CompileOptions(parallelize={"i": parpy.threads(16)}, backend=backend, legality="trust")
    c, y = np.zeros((40, 1), np.int64), np.zeros((40, 4))
    private_counters(c, y, opts=opts)
    assert (c == 3).all()
    assert (y == [10, 20, 30, 0]).all()


@parpy.jit
def raise_first(x):
    x[0] += 1
    return x[0]


@parpy.jit
def views(x, y):
    y[:] = x[:] + raise_first(x)
    y[:] = raise_first(x) + x[:] * 2
    y[:] = y[:] * 2 + raise_first(x)


@parpy.jit
def computed_before(x, y):
    y[:] = x[:] * 2 + raise_first(x)


def test_slices_beside_a_call_that_writes_them():
    results = []
    for how in ({"seq": True}, {"opts": CPU}):
        x, y = np.arange(4.0), np.ones(4)
        views(x, y, **how)
        results.append((x.tolist(), y.tolist()))
    assert results[0] == results[1]
    with pytest.raises(parpy.CompileError, match=r"P219.*writes an array that slices before it have read"):
        computed_before(x, y, opts=CPU)
