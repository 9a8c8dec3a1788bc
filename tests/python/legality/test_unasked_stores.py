"""A thread stores an element only if the source does; otherwise another thread may be storing it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parpy
from backends import TARGETS, cuda_text, run

REPEATS = 30  # an additional store undoes another thread's store only sometimes
MAPPING = {"i": parpy.threads(64), "j": parpy.threads(64).reduce()}


@parpy.jit
def empty_loops(b, c, k):
    parpy.label("i")
    for i in range(2, k + 2):
        for r in range(b.size):
            parpy.label("j")
            for j in range(k, i):
                b[r] += c[j] * (r + 1)


@parpy.jit
def failing_conditions(b, c, k):
    parpy.label("i")
    for i in range(k):
        for r in range(b.size):
            parpy.label("j")
            for j in range(k):
                if i == 5:
                    b[r] = max(b[r], c[j] + r)


@parpy.jit
def empty_loops_of_slices(b, c, k):
    for i in range(2, k + 2):
        for j in range(k, i):
            b[:] += (c[::-1] - i) * 0.5


@parpy.jit
def stored_by_another(b, c, k):
    parpy.label("i")
    for i in range(k):
        parpy.label("j")
        for j in range(k):
            if i == 3:
                b[i] += c[j]
        if i == 5:
            b[0] = 1.0


@parpy.jit
def reduced_by_others(b, c, k):
    parpy.label("i")
    for i in range(k):
        parpy.label("j")
        for j in range(k):
            if i == 3:
                b[0] += c[j]
        parpy.label("j")
        for j in range(k):
            if i == 5:
                b[i] += c[j]


FUNCTIONS = [empty_loops, failing_conditions, stored_by_another, reduced_by_others]


def arguments() -> tuple[Any, ...]:
    c = np.arange(1.0, 65.0)
    return np.arange(64.0), c, 60


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_results_are_those_of_python(function: Callable[..., None], backend: str) -> None:
    expected = arguments()
    function.__wrapped__(*expected)
    for _ in range(REPEATS):
        found = arguments()
        run(backend, function, found, MAPPING)
        np.testing.assert_array_equal(found[0], expected[0])


@pytest.mark.parametrize("backend", TARGETS)
def test_the_automatic_mode_agrees(backend: str) -> None:
    options = parpy.CompileOptions(automatic=True, backend=parpy.CompileBackend(backend))
    for size, k in ((7, 3), (7, 60), (64, 60), (64, 200)):
        arrays = np.arange(float(size)), np.arange(1.0, size + 1)
        expected = arrays[0] + (arrays[1][::-1] - (k + 1)) * 0.5
        for _ in range(REPEATS):
            found = arrays[0].copy()
            empty_loops_of_slices(found, arrays[1], k, opts=options)
            np.testing.assert_array_equal(found, expected)


# Iterations access b[0] only by the updates that `reduced_by_others` reduces.
@pytest.mark.parametrize("function", FUNCTIONS[:-1], ids=lambda f: f.__name__)
def test_cuda_asks_before_it_stores(function: Callable[..., None]) -> None:
    lines = [line.strip() for line in cuda_text(function, arguments(), MAPPING).splitlines()]
    lines = [line for line in lines if not line.startswith("//")]
    stores = [number for number, line in enumerate(lines) if re.match(r"b\[.*\] =", line)]
    assert stores
    for number in stores:
        assert re.match(r"if \((b_touched|i == \d)", lines[number - 1]), "\n".join(lines[number - 3 : number + 1])
