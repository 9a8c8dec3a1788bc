"""Loops whose numbers of iterations change while the function runs: GPUs count them together (flatten-loops)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parpy
from backends import NAMES, copies

Arguments = tuple[Any, ...]


@parpy.jit
def transform(x, y, k):
    """The passes of a Walsh-Hadamard transform, with a scalar between the loops."""
    for i in range(k):
        left = 2**i
        right = 2 ** (k - i - 1)
        for m in range(left):
            for j in range(2):
                w = 1.0 + x[m] * j
                for r in range(right):
                    y[(j * left + m) * right + r] = w * r - y[(j * left + m) * right + r]


@parpy.jit
def sorted_up(x):
    """A bitonic sort."""
    n = x.shape[0]
    size = 2
    while size <= n:
        stride = size // 2
        while stride > 0:
            for block in range(n // (2 * stride)):
                for i in range(stride):
                    low = 2 * stride * block + i
                    if (x[low] > x[low + stride]) == ((low & size) == 0):
                        x[low], x[low + stride] = x[low + stride], x[low]
            stride //= 2
        size *= 2


@parpy.jit
def halves(x, y):
    """Sums of blocks whose length doubles; the loops have steps that change, and no iterations at the end."""
    n = x.shape[0]
    stride = 1
    while stride <= 2 * n:
        for k in range(0, n - stride, 2 * stride):
            scale = 0.5
            for i in range(stride // 2, stride):
                y[k + i] = y[k + i] * scale + x[k + i]
        stride *= 2


@parpy.jit
def table(x, y, n):
    """Ranges that begin behind zero, a counter of another type, and a loop inside that is not spread."""
    for t in range(n):
        rows = n // (t + 1)
        for i in range(rows, 2 * rows):
            for j in range(np.int32(t * t % n)):
                total = 0.0
                for k in range(j % 3):
                    total += x[(i + k) % n]
                y[i, j] = total - y[i, j]


def programs() -> list[Any]:
    rng = np.random.default_rng(3)
    values = rng.standard_normal(64)
    special = values.copy()
    special[[3, 9, 20]] = np.nan, np.inf, -0.0
    return [
        pytest.param(transform, (values, np.zeros(64), 6), id="transform"),
        pytest.param(transform, (special, np.zeros(64), 6), id="transform-special"),
        pytest.param(transform, (values, np.ones(1), 0), id="transform-none"),
        pytest.param(sorted_up, (values,), id="sort"),
        pytest.param(sorted_up, (rng.integers(-9, 9, 128).astype(np.int32),), id="sort-int32"),
        pytest.param(sorted_up, (values[:1],), id="sort-one"),
        pytest.param(halves, (values[:37], np.ones(37)), id="steps"),
        pytest.param(halves, (values[::-2], np.ones(64)[::2]), id="steps-strided"),
        pytest.param(table, (values[:23], np.zeros((46, 23)), 23), id="table"),
    ]


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.gpu) if n == "cuda" else n for n in NAMES])
@pytest.mark.parametrize(("function", "given"), programs())
def test_same_bits_as_python(function: Any, given: Arguments, name: str) -> None:
    want, got = copies(given), copies(given)
    with np.errstate(invalid="ignore"):
        function.py_func(*want)
    if name == "eval":
        parpy.calls.jit.interpret(function, got, parpy.auto())
    else:
        function(*got, opts=parpy.auto(backend=parpy.CompileBackend(name)))
    for a, b in zip(want, got, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("function", "given"), programs())
def test_iterations_are_counted_together(function: Any, given: Arguments) -> None:
    if np.size(given[0]) < 2 or (np.size(given[-1]) == 1 and given[-1] == 0):
        pytest.skip("these loops run at most once")
    text = str(parpy.explain(function, *given, opts=parpy.auto(backend=parpy.CompileBackend.Cuda)))
    assert "are counted together" in " ".join(text.split())


def test_run_time_sizes() -> None:
    """One program for calls of several sizes."""
    opts = parpy.auto(backend=parpy.CompileBackend.Sim)
    rng = np.random.default_rng(5)
    for exponent in (5, 3, 7, 1, 6):
        x = rng.standard_normal(2**exponent)
        want = np.sort(x)
        sorted_up(x, opts=opts)
        np.testing.assert_array_equal(x, want)


@parpy.jit
def one_iteration(a, c, n, k):
    """The outer loop has one iteration, and a scalar of the loops inside is needed by several blocks."""
    for i in range(1, k + 2, 2):
        for j in range(n - 2):
            c[::-1, -3:] += (c[j, i // 2] + a[i // 2, -3:]) * 0.5


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.gpu) if n == "cuda" else n for n in NAMES[1:]])
def test_a_loop_of_one_iteration_around_others(name: str) -> None:
    rng = np.random.default_rng(8)
    a, c = rng.integers(-9, 9, (2, 5, 5)).astype(float)
    want = c.copy().T
    one_iteration.py_func(a, want, 5, 1)
    got = c.copy().T
    one_iteration(a, got, 5, 1, opts=parpy.auto(backend=parpy.CompileBackend(name)))
    np.testing.assert_array_equal(got, want)
