"""Arrays that loops make, of sizes that the function computes once in front of them: Python runs none of the loop."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest

import parpy

CPU = parpy.auto(backend=parpy.CompileBackend.Cpu)


def labels(A, times):
    n = len(A)
    found = np.zeros(n, dtype=np.int64)
    for _ in range(times):
        for i in range(n):
            counts = np.zeros(n, dtype=np.int64)
            for j in range(n):
                if A[i, j]:
                    counts[found[j] + j % 3] += 1
            found[i] = np.argmax(counts)
    return found


def two_sizes(A, times):
    n, m = A.shape
    last = m - 1
    total = 0.0
    for _ in range(times):
        row = np.full(last, 0.5)
        column = np.empty(n)
        for i in range(n):
            column[i] = A[i, last] * 2
        for j in range(last):
            row[j] += A[0, j] + column[j % n]
        total += row.sum()
    return total


def size_that_changes(A, times):
    n = len(A)
    total = 0.0
    for _ in range(times):
        part = np.zeros(n)
        for i in range(n):
            part[i] = A[i, 0]
        total += part.sum()
        n -= 1
    return total


def size_behind(A, times):
    total = 0.0
    for k in range(times):
        if k > 0:
            part = np.zeros(n)  # noqa: F821
            total += part[0] + len(part)
    n = len(A)
    return total + n


def loops_run_by_python(function: Callable[..., object], *arguments: object) -> str:
    text = str(parpy.explain(parpy.jit(function), *arguments, opts=CPU))
    return text.partition("Python runs:")[2]


@pytest.mark.parametrize("function", [labels, two_sizes, size_that_changes])
@pytest.mark.parametrize("n", [1, 7, 40])
def test_they_are_what_they_are_in_python(function, n):
    A = np.random.default_rng(n).random((n, n + 2)) - 0.4
    compiled = parpy.jit(function)
    times = min(n, 4)
    for opts in (CPU, parpy.auto(backend=parpy.CompileBackend.Sim)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", parpy.PerformanceWarning)
            np.testing.assert_allclose(compiled(A, times, opts=opts), function(A, times), rtol=1e-12)


@pytest.mark.parametrize("function", [labels, two_sizes])
def test_python_runs_no_part_of_the_loops(function):
    assert "for" not in loops_run_by_python(function, np.ones((5, 6)), 3)


def test_sizes_that_change_are_left_to_python():
    assert "for _ in range(times)" in loops_run_by_python(size_that_changes, np.ones((5, 6)), 3)


def test_a_size_that_has_no_value_yet_is_an_error_as_in_python():
    A = np.ones((3, 3))
    assert parpy.jit(size_behind)(A, 1, opts=CPU) == 3
    with pytest.raises(UnboundLocalError):
        parpy.jit(size_behind)(A, 2, opts=CPU)
