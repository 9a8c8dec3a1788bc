"""Plain Python functions that jit functions call are compiled with them: helpers need no decorator."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import backends
import parpy
from parpy.host.driver import driver_of
from parpy.syntax.names import jit_source


def scaled(v, factor=2.0):
    return v * factor


def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


def fill(row, v):
    for k in range(row.shape[0]):
        row[k] = scaled(v, factor=k + 1.0)


@parpy.jit
def rows(y, x):
    parpy.label("i")
    for i in range(y.shape[0]):
        fill(y[i], x[i] + fibonacci(i))


@pytest.mark.parametrize("backend", backends.BACKENDS)
def test_helpers_of_every_back_end(backend):
    x, got, want = np.arange(7.0), np.zeros((7, 3)), np.zeros((7, 3))
    backends.run(backend, rows, (got, x), {"i": 7})
    rows(want, x, seq=True)
    assert want[6, 2] == (6 + 8) * 3
    np.testing.assert_array_equal(got, want)


def smoothed(x):
    y = np.empty_like(x)
    y[0], y[-1] = x[0], x[-1]
    for i in range(1, len(x) - 1):
        y[i] = (x[i - 1] + x[i + 1]) / 2
    return y


@parpy.jit
def twice(x):
    y = smoothed(x)
    return smoothed(y), y.sum()


def test_functions_that_allocate():
    x = np.random.default_rng(0).random(9)
    (got, total), (want, sum_) = twice(x), twice(x, seq=True)
    np.testing.assert_allclose(got, want, rtol=1e-15)
    assert total == pytest.approx(sum_)


told = []


@parpy.callback
def tell(step):
    told.append(step)


def with_loop_of_python(x, steps):
    for step in range(steps):
        x = smoothed(x)
        tell(step)
    return x


def test_functions_that_python_runs_in_part():
    outer = parpy.jit(with_loop_of_python)
    assert driver_of(jit_source(outer)) is not None
    x = np.random.default_rng(0).random(9)
    np.testing.assert_allclose(outer(x, 3), with_loop_of_python(x, 3), rtol=1e-15)
    assert told == [0, 1, 2] * 2


def change(v):
    return v + 1


def test_another_function_under_the_name_compiles_anew(monkeypatch):
    @parpy.jit
    def f(x):
        for i in range(len(x)):
            x[i] = change(x[i])

    x = np.zeros(3)
    f(x)
    f(x)
    assert x.tolist() == [2, 2, 2]

    def doubled(v):
        return v * 2

    monkeypatch.setitem(globals(), "change", doubled)
    f(x)
    assert x.tolist() == [4, 4, 4]


def test_closures():
    def make(k):
        def added(v):
            return v + k

        @parpy.jit
        def f(x):
            for i in range(len(x)):
                x[i] = added(x[i])

        return f

    x = np.zeros(2)
    make(3)(x)
    make(4)(x)
    assert x.tolist() == [7, 7]


def test_functions_stay_python_s():
    """Compiled or not, the function can be called as before; decorators that copy its attributes copy none of ours."""
    x = np.zeros(2)

    @parpy.jit
    def f(x):
        x[0] = scaled(1.0)

    f(x)
    assert scaled("ab", 2) == "abab"

    @functools.wraps(scaled)
    def other(v, factor=2.0):
        return v - factor

    @parpy.jit
    def g(x):
        x[0] = other(1.0)

    with pytest.raises(parpy.CompileError, match="'other' is wrapped by a decorator"):
        g(x, opts=parpy.par({}))
