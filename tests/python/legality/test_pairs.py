"""Loops in a GPU thread that run two iterations at a time, with every number of iterations."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options
from parpy import CompileBackend


@parpy.jit
def up(x, y, begin, end):
    parpy.label("i")
    for i in range(begin, end):
        y[i] = x[i] + 1


@parpy.jit
def down(x, y, begin, end):
    parpy.label("i")
    for i in range(end - 1, begin - 1, -1):
        y[i] += x[i] * 2


@parpy.jit
def gathered(x, y, begin, end):
    parpy.label("i")
    for i in range(begin, end):
        t = x[(i * 7) % x.shape[0]]
        y[i] = t - x[i]


@parpy.jit
def neighbours(x, y, begin, end):
    parpy.label("i")
    for i in range(begin, end):
        parpy.label("j")
        for j in range(40):
            y[i, j] = x[i, j] + x[i + 1, j]


LINES = [up, down, gathered]
RANGES = [(0, n) for n in (0, 1, 63, 64, 65, 127, 128, 129, 191, 192, 500)] + [(7, 3), (3, 499), (490, 500)]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.float32, np.float64])
@pytest.mark.parametrize("function", LINES, ids=lambda f: f.__name__)
def test_pairs_of_iterations(function, dtype, target):
    rng = np.random.default_rng(0)
    x = rng.integers(-9, 9, 500).astype(dtype)
    for begin, end in RANGES:
        got, want = (np.arange(500).astype(dtype) for _ in range(2))
        function(x, got, begin, end, opts=options(target, {"i": 64}))
        function(x, want, begin, end, seq=True)
        np.testing.assert_array_equal(got, want, err_msg=f"{begin} {end}")


VIEWS = {
    "one array": lambda m: (m[:500], m[:500]),
    "reversed": lambda m: (m[499::-1], m[500:]),
    "every second, reversed": lambda m: (m[::2], m[1::2][::-1]),
    "one reversed array": lambda m: (m[499::-1], m[499::-1]),
    "one element": lambda m: (np.broadcast_to(m[:1], (500,)), m[500:]),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("function", [up, down], ids=lambda f: f.__name__)
def test_pairs_of_views(function, view, target):
    for begin, end in RANGES:
        got, want = (np.where(np.arange(1000) % 7 == 3, np.nan, np.arange(1000.0)) for _ in range(2))
        got[5] = want[5] = -0.0
        function(*VIEWS[view](got), begin, end, opts=options(target, {"i": 64}))
        function(*VIEWS[view](want), begin, end, seq=True)
        np.testing.assert_array_equal(got, want, err_msg=f"{begin} {end}")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("rows", [0, 1, 2, 3, 6, 7, 31])
def test_pairs_of_rows(rows, target):
    x, got = np.random.default_rng(1).random((32, 40)), np.zeros((32, 40))
    neighbours(x, got, 0, rows, opts=options(target, {"i": 5, "j": 40}))
    want = np.zeros((32, 40))
    want[:rows] = x[:rows] + x[1 : rows + 1]
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("function", [*LINES, neighbours], ids=lambda f: f.__name__)
def test_they_are_paired(function):
    lines = function is not neighbours
    x = np.ones(500, np.int8) if lines else np.ones((32, 40))
    mapping = {"i": parpy.threads(64 if lines else 5)} | ({} if lines else {"j": parpy.threads(40)})
    opts = parpy.CompileOptions(parallelize=mapping, backend=CompileBackend.Cuda)
    text = parpy.print_compiled(function, (x, x.copy(), 0, 500 if lines else 31), opts)
    assert "_next" in text, text
    assert function is down or "hidden" not in text, text
