"""Subscripts that coincide after a conversion to 8 or 16 bits: iterations with such subscripts may conflict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parpy
from backends import TARGETS, copies, cuda_text, run
from parpy.builtin import convert
from parpy.types import I16, U8


@parpy.jit
def updates_that_meet(y, x, n):
    parpy.label("i")
    for i in range(n):
        y[convert(i, U8)] += x[i % 32]


@parpy.jit
def updates_of_16_bits(y, x, n):
    parpy.label("i")
    for i in range(n):
        y[convert(i, I16)] += x[i % 32]


@parpy.jit
def reductions_that_meet(y, x, n):
    parpy.label("i")
    for i in range(n):
        parpy.label("j")
        for j in range(32):
            y[convert(i, U8)] += x[j]


@parpy.jit
def conditional_reductions(y, x, n):
    parpy.label("i")
    for i in range(n):
        parpy.label("j")
        for j in range(32):
            if i >= 256:
                y[convert(i, U8)] += x[j]


@parpy.jit
def loops_of_threads(y, z, x, n):
    parpy.label("i")
    for i in range(n):
        parpy.label("j")
        for j in range(512):
            y[i, convert(j, U8)] += x[j]
        parpy.label("j")
        for j in range(512):
            z[i, j] = y[i, convert(j, U8)]


@parpy.jit
def stored_then_read(y, z, x, n):
    parpy.label("i")
    for i in range(n):
        parpy.label("j")
        for j in range(512):
            y[i, j] = x[j] + i
        parpy.label("j")
        for j in range(512):
            z[i, j] = y[i, convert(j, U8)]


def wanted(function: Callable[..., None], arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    own = copies(arguments)
    function.__wrapped__(*own)
    return own


CASES: dict[str, tuple[Callable[..., None], tuple[Any, ...]]] = {
    "updates": (updates_that_meet, (np.zeros(256), np.arange(32.0), 5000)),
    "updates of 16 bits": (updates_of_16_bits, (np.zeros(1 << 16), np.arange(32.0), 100_000)),
    "reductions": (reductions_that_meet, (np.zeros(256), np.arange(32.0), 600)),
    "conditional reductions": (conditional_reductions, (np.zeros(1000), np.arange(32.0), 512)),
    "loops of threads": (loops_of_threads, (np.zeros((8, 512)), np.zeros((8, 512)), np.arange(512.0), 8)),
    "stored, then read": (stored_then_read, (np.zeros((8, 512)), np.zeros((8, 512)), np.arange(512.0), 8)),
}


def mapping(function: Callable[..., None]) -> dict[str, Any]:
    alone = function in (updates_that_meet, updates_of_16_bits)
    return {"i": parpy.threads(1024)} | ({} if alone else {"j": parpy.threads(512)})


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("automatic", [False, True], ids=["by hand", "automatic"])
def test_as_python(case: str, backend: str, automatic: bool) -> None:
    function, arguments = CASES[case]
    want = wanted(function, arguments)
    for _ in range(3):
        got = copies(arguments)
        if automatic:
            function(*got, opts=parpy.CompileOptions(automatic=True, backend=parpy.CompileBackend(backend)))
        else:
            run(backend, function, got, mapping(function))
        for ours, theirs in zip(got, want, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_updates_are_atomic() -> None:
    for case in ("updates", "updates of 16 bits"):
        function, arguments = CASES[case]
        assert "atomic_add(&y[" in cuda_text(function, arguments, mapping(function))


@pytest.mark.parametrize("case", ["loops of threads", "stored, then read"])
def test_threads_wait_for_each_other(case: str) -> None:
    function, arguments = CASES[case]
    assert "__syncthreads()" in cuda_text(function, arguments, mapping(function))
