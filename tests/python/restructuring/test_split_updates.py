"""Loops that update a small array of integers at places that data decide (split-updates): blocks of iterations update
arrays of their own, and the results are those of plain Python."""

from __future__ import annotations

import random

import numpy as np
import pytest

import parpy
from nests import Nest

CPU = parpy.auto(backend=parpy.CompileBackend.Cpu)
EXACT = parpy.auto(backend=parpy.CompileBackend.Cpu, deterministic=True)
SIZE = 30_000


def splits(function, arguments, opts=CPU):
    return "_block" in parpy.print_compiled(function, list(arguments), opts)


def given(**more):
    rng = np.random.default_rng(0)
    return {
        "k": rng.integers(0, 20, SIZE),
        "l": rng.integers(-7, 7, SIZE).astype(np.int32),
        "x": rng.integers(-1000, 1000, SIZE),
        "h": np.arange(20),
        "g": np.arange(7, dtype=np.int32),
        "m": np.zeros((5, 4), np.int64),
        "b": np.zeros(20, np.int8),
        **more,
    }


def checked(text, opts=CPU, **more):
    nest = Nest(text, given(**more))
    nest.check(opts)
    return splits(nest.function, nest.copies().values(), opts)


@pytest.mark.parametrize("opts", [CPU, EXACT], ids=["any order", "deterministic"])
@pytest.mark.parametrize(
    "update",
    [
        "h[k[i]] += 1",
        "h[k[i]] = h[k[i]] + x[i]",
        "h[k[i]] -= x[i]",
        "h[k[i]] = max(h[k[i]], x[i])",
        "h[k[i]] = min(h[k[i]], x[i])",
        "h[k[i]] |= x[i]",
        "h[k[i]] &= x[i]",
        "h[k[i]] ^= x[i]",
        "g[l[i]] += 1",  # from the end
        "m[k[i] // 4, k[i] % 4] += x[i]",
        "b[k[i]] += np.int8(x[i] % 7)",  # wraps around
    ],
)
def test_updates_of_every_operator(update, opts):
    assert checked(f"for i in range({SIZE}):\n    {update}", opts)


def test_ranges():
    assert checked("for i in range(5, 29999):\n    h[k[i]] += x[i]")
    assert checked("for i in range(k.shape[0] - 1):\n    h[k[i + 1]] += x[i]")
    assert not checked("for i in range(0, 30000, 3):\n    h[k[i]] += x[i]")
    assert not checked("for i in range(100):\n    h[k[i]] += x[i]")  # too short
    assert not checked("for i in range(0):\n    h[k[i]] += x[i]")


def test_several_arrays_and_conditions():
    text = f"for i in range({SIZE}):\n    if x[i] > 0:\n        h[k[i]] += 1\n    else:\n        g[l[i]] -= 1"
    assert checked(text)
    text += "\n    x[i] = k[i]"
    assert checked(text)
    text = f"for i in range({SIZE}):\n    h[k[i]] += x[i]\n    if x[i] > 3:\n        h[x[i] % 20] += 2"
    assert checked(text)
    text = f"for j in range(3):\n    for i in range({SIZE}):\n        h[k[i] * j % 20] += x[i]\n    h[j] *= 2"
    assert checked(text)


@pytest.mark.parametrize(
    "text",
    [
        "    h[k[i]] += 1\n    x[i] = h[3]",  # a value between the updates
        "    h[k[i]] += 1\n    h[k[i]] = max(h[k[i]], 3)",  # two operators
        "    h[k[i]] += 1\n    if x[i] == 999:\n        break",
        "    h[k[i]] = x[i]",
        "    k[k[i]] += 1",  # the places change
        "    y[k[i]] += 0.5 * x[i]",  # the order of floats matters
        "    big[k[i] * 1000] += 1",  # too large for each block to have its own
    ],
)
def test_loops_that_must_stay_in_order_or_do_not_gain(text):
    assert not checked(f"for i in range({SIZE}):\n{text}", y=np.zeros(20), big=np.zeros(20_000, np.int64))


def test_arrays_that_share_memory():
    memory = np.arange(SIZE)
    nest = Nest(f"for i in range({SIZE}):\n    h[k[i] % 20] += 1", {"k": memory, "h": memory[40:60]})
    nest.check(CPU)
    assert not splits(nest.function, nest.copies().values())


def test_sizes_that_calls_decide():
    """After a few sizes the program is one for all of them."""

    @parpy.jit
    def count(k, h):
        for i in range(k.shape[0]):
            h[k[i]] += 1

    rng = np.random.default_rng(1)
    for size in (0, 1, 15, 16, 17, 1000, 40_000, 123_457, 250_000, 3, 100_001):
        k, h = rng.integers(0, 10, size), np.zeros(10, np.int64)
        count(k, h, opts=CPU)
        np.testing.assert_array_equal(h, np.bincount(k, minlength=10))


@pytest.mark.parametrize("bins", [1, 40, 1000])
def test_histograms(bins):
    x = np.random.default_rng(2).standard_normal(400_000)

    @parpy.jit
    def histogram(x):
        return np.histogram(x, bins)[0]

    np.testing.assert_array_equal(histogram(x, opts=CPU), np.histogram(x, bins)[0])
    assert splits(histogram, (x,))


@pytest.mark.parametrize("block", range(3))
def test_random_updates(block):
    split = 0
    for seed in range(20 * block, 20 * block + 20):
        rng = random.Random(seed)
        lines = [f"for i in range({rng.choice([0, 3])}, {rng.choice([20_000, 29_999])}):"]
        for _ in range(rng.randint(1, 3)):
            place = rng.choice(["h[k[i]]", "g[l[i]]", "m[k[i] // 4, 2]", "b[k[i]]", "h[abs(l[i])]", "h[i % 20]"])
            operator = rng.choice(["+=", "+=", "-=", "|=", "^="])
            value = rng.choice(["1", "2", "k[i] % 3", "k[i] % 2"])
            line = f"    {place} {operator} np.int8({value})"
            lines += [f"    if x[i] > {rng.randint(-900, 900)}:", f"    {line}"] if rng.random() < 0.4 else [line]
        if rng.random() < 0.2:
            lines.append(rng.choice(["    x[i] = i", "    x[i] = h[2]", "    k[i] = 3"]))
        split += checked("\n".join(lines))
    assert split > 2
