"""Arrays that a function allocates, replaces under their names, and returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parpy


@parpy.jit
def conjugate_gradients(A, b):
    n = len(b)
    x = np.zeros(n)
    history = np.zeros(10)
    r = b - A @ x
    p = r.copy()
    rs = r @ r
    for k in range(10):
        Ap = A @ p
        alpha = rs / (p @ Ap)
        x = x + alpha * p
        r = r - alpha * Ap
        history[k] = r @ r
        if history[k] < 1e-10:
            break
        p = r + (history[k] / rs) * p
        rs = history[k]
    return x, history


@parpy.jit
def summed(A, b, t):
    x = np.zeros_like(b)
    for _ in range(t):
        x = x + A @ b
    return x


@parpy.jit
def exchanged(A, b, t):
    n, _ = A.shape
    x = np.zeros((n,))
    y = np.ones_like(b)
    for _ in range(t):
        x, y = y, x + A @ y
    return x, y


@parpy.jit
def roots(A, b, t):
    x = np.empty(b.shape)
    x[:] = b
    for _ in range(t):
        x = 0.5 * (x + 2 / x)
    return x


@parpy.jit
def smoothed(A, b, t):
    u = np.full(A.shape, 0.5)
    for _ in range(t):
        v = u.copy()
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) + A[1:-1, 1:-1]
        u = v
    return u


def given(n: int = 6) -> tuple[Any, Any]:
    rng = np.random.default_rng(n)
    a = rng.random((n, n))
    return a @ a.T + n * np.eye(n), rng.random(n)


def agree(got: Any, want: Any) -> None:
    pairs = zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]
    for ours, theirs in pairs:
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@pytest.mark.parametrize("function", [summed, exchanged, roots, smoothed], ids=lambda f: f.__name__)
def test_as_python(function: Callable[..., Any]) -> None:
    for n in (6, 3, 40):
        for t in (0, 1, 4):
            a, b = given(n)
            agree(function(a, b, t), function.__wrapped__(a, b, t))


def test_conjugate_gradients() -> None:
    for n in (6, 12):
        a, b = given(n)
        agree(conjugate_gradients(a, b), conjugate_gradients.__wrapped__(a, b))
        np.testing.assert_allclose(a @ conjugate_gradients(a, b)[0], b, rtol=1e-4)


def test_results_are_new_arrays() -> None:
    a, b = given()
    first, second = summed(a, b, 0), summed(a, b, 0)
    first += 1
    assert not second.any()
    x, y = exchanged(a, b, 2)
    assert not np.shares_memory(x, y)


def test_on_the_simulator() -> None:
    options = parpy.CompileOptions(automatic=True, backend=parpy.CompileBackend("sim"))
    a, b = given()
    agree(summed(a, b, 3, opts=options), summed.__wrapped__(a, b, 3))
    agree(roots(a, b, 3, opts=options), roots.__wrapped__(a, b, 3))


# ------------------------------------------------------------ arguments of functions of which Python runs a part


def moved(x, v, n):
    for _ in range(n):
        x = x + v
    return x, v


def watched(x, v, n):
    sums = np.zeros(n)
    for k in range(n):
        x = x + v
        sums[k] = x.sum() + x[0]
    return sums, x, v


def kept_in_a_list(x, v, n):
    log = []
    for k in range(n):
        if k > 1:
            v = v * 0.5
        x = x + v
    log.append(x)
    x += 1
    v[0] = 7
    return log, x, v


def stored_to_in_between(x, v, n):
    sums = np.zeros(n)
    for k in range(n):
        x[0] = k
        sums[k] = x.sum()
        if k > 0:
            x = x.copy()
    return sums, v


@pytest.mark.parametrize("function", [moved, watched, kept_in_a_list], ids=lambda f: f.__name__)
def test_arguments_that_are_replaced_at_times(function: Callable[..., Any]) -> None:
    """Results are the arguments themselves if nothing replaced them, as in Python."""
    compiled = parpy.jit(function)
    for n in (0, 1, 3, 0):
        ours, pythons = (np.ones(2), np.ones(2)), (np.ones(2), np.ones(2))
        got, want = compiled(*ours, n), function(*pythons, n)
        agree(got[1:], want[1:])
        np.testing.assert_array_equal(got[0], want[0])
        np.testing.assert_array_equal(ours, pythons)
        for mine, theirs in zip(got, want, strict=True):
            assert [mine is each for each in ours] == [theirs is each for each in pythons]


def test_arguments_that_are_stored_to_before_are_no_copies() -> None:
    x, y = np.ones(2), np.ones(2)
    got, want = parpy.jit(stored_to_in_between)(x, np.ones(2), 3), stored_to_in_between(y, np.ones(2), 3)
    for ours, theirs in zip(got, want, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert (x == y).all()
