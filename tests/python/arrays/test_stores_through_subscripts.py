"""Stores to elements selected by arrays of subscripts: `x[k] = v` and `x[k] += v`, as in NumPy."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parpy
from backends import BACKENDS, run
from parpy import CompileBackend, CompileOptions


@parpy.jit
def store(x, k, v):
    x[k] = v


@parpy.jit
def add(x, k, v):
    x[k] += v


@parpy.jit
def of_itself(x, k, v):
    x[k + 1] = v[::-1] * 2 + x[k]


@parpy.jit
def two_dimensions(y, k, j):
    y[k, j] = 7
    y[2, k] -= 1.5
    y[j, 0] *= 2


@parpy.jit
def rows(y, k, v):
    y[k] = v
    y[k, :] = 0.5 * v


@parpy.jit
def its_own_subscripts(k):
    k[k] = k[::-1]


@parpy.jit
def selected(x, y, k, n):
    for i in range(n):
        m = x > i
        x[k[m]] = i + 0.5
        y[k[m], k[m]] += x[m] * i


@parpy.jit
def computed_subscripts(x, k, n):
    for i in range(n):
        x[(k * (i + 2)) % x.size] += 0.25 * (i + 1)
        x[np.abs(k - i) % x.size] = i


K = np.array([3, 1, 3, 0, -1])
J = np.array([0, 1, 2, 0, 1])
V = np.random.default_rng(0).normal(size=5)
CASES: dict[str, tuple[Callable[..., None], tuple[Any, ...]]] = {
    "values": (store, (np.zeros(6), K, V)),
    "a number": (store, (np.zeros(6), K.astype(np.int32), 4)),
    "numbers of another type": (store, (np.zeros(6, int), K, 2.7)),
    "one value": (store, (np.zeros(6), K, V[:1])),
    "no subscripts": (store, (np.zeros(6), K[:0], V[:0])),
    "reversed subscripts": (store, (np.zeros(12)[::2], K[::-1], V[::-1])),
    "updates of one element": (add, (np.zeros(6), K, V)),
    "updates of integers": (add, (np.zeros(6, int), K, 1)),
    "updates of float32": (add, (np.ones(6, np.float32), K, V)),
    "values of the target": (of_itself, (np.arange(6.0), J, V)),
    "two dimensions": (two_dimensions, (np.ones((5, 4)), J, J)),
    "one row": (rows, (np.zeros((5, 4)), J, np.arange(4.0))),
    "rows": (rows, (np.zeros((5, 4)), J, np.arange(20.0).reshape(5, 4))),
    "columns in memory": (rows, (np.zeros((5, 4), order="F"), J, np.arange(20.0).reshape(4, 5).T)),
    "one number in rows": (rows, (np.zeros((5, 4)), J, 3.0)),
    "its own subscripts": (its_own_subscripts, (np.array([3, 1, 0, 2]),)),
    "what a mask selects": (selected, (np.arange(6.0), np.zeros((6, 6)), np.array([5, 0, 2, 1, 3, 0]), 5)),
    "computed subscripts": (computed_subscripts, (np.arange(9.0) % 4, J, 6)),
}


def wanted(function: Callable[..., None], arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    own = copy.deepcopy(arguments)
    function.__wrapped__(*own)
    return own


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", CASES)
def test_as_numpy(case: str, backend: str) -> None:
    function, arguments = CASES[case]
    got = copy.deepcopy(arguments)
    run(backend, function, got, {"gpu": 1} if backend in ("sim", "cuda") else {})
    for ours, theirs in zip(got, wanted(function, arguments), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("backend", BACKENDS[1:])
@pytest.mark.parametrize("case", CASES)
def test_automatic(case: str, backend: str) -> None:
    function, arguments = CASES[case]
    got = copy.deepcopy(arguments)
    function(*got, opts=CompileOptions(automatic=True, backend=CompileBackend(backend)))
    for ours, theirs in zip(got, wanted(function, arguments), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_subscripts_that_share_memory_with_the_target() -> None:
    @parpy.jit
    def f(x, k):
        x[k] = k + 1

    for shift in range(3):
        memory, plain = np.array([0, 2, 1, 4, 3, 0]), np.array([0, 2, 1, 4, 3, 0])
        f(memory, memory[shift : shift + 3])
        plain[plain[shift : shift + 3]] = plain[shift : shift + 3] + 1
        np.testing.assert_array_equal(memory, plain)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros(6), K, V[:3]), r"\[P221\]: values .* shapes \(3,\) and \(5,\)"),
        ((np.zeros((6, 6)), K.reshape(5, 1), 1.0), "2 dimensions"),
        ((np.zeros(6), V, 1.0), "not an integer"),
        ((np.zeros(6), K, np.ones((5, 5))), "is used as a number"),
    ],
)
def test_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(parpy.CompileError, match=message):
        store(*arguments, opts=parpy.par({}))


def test_rows_cannot_be_stored_across() -> None:
    @parpy.jit
    def f(x, k):
        x[:, k] = 1.0

    with pytest.raises(parpy.CompileError, match="both slices and an array of subscripts"):
        f(np.zeros((3, 6)), K, opts=parpy.par({}))
    x = np.zeros((3, 6))
    f(x, K)
    assert (x[:, K] == 1).all()
    assert x.sum() == 3 * len({*K.tolist()})
