"""Functions and lambdas that are defined in functions: they read the variables around them as they are at the call."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parpy
from backends import BACKENDS, run

SCALE = 3.0


@parpy.jit
def squares(x):
    def g(v):
        return v * v + 1

    for i in range(x.size):
        x[i] = g(x[i])


@parpy.jit
def variables_around(x, k, w):
    s = 0.0
    square = lambda v: v * v + k  # noqa: E731

    def h(v, c=2.0):
        t = square(v) * c
        return t + w[0] + SCALE

    def factorial(n):
        return 1 if n < 2 else n * factorial(n - 1)

    for i in range(x.size):
        k += 1
        x[i] = h(x[i]) + h(x[i], c=i) + factorial(3)
        s += x[i]
    w[0] = s


@parpy.jit
def stores(x, n):
    def at(i):
        return x[i % n]

    def fill(i, v):
        x[i] = v

    for i in range(n):
        fill(i, at(i + 1) + 1)


@parpy.jit
def mutual(x, n):
    def even(k):
        return True if k == 0 else odd(k - 1)

    def odd(k):
        return False if k == 0 else even(k - 1)

    for i in range(n):
        x[i] = 1.0 if even(i) else -1.0


@parpy.jit
def own_names(x, n):
    i = 5

    def f(n):
        i = n + 1
        return i * 2

    for k in range(n):
        x[k] = f(k) + i


CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "squares": (squares, (np.arange(5.0),)),
    "variables around": (variables_around, (np.arange(5.0), 1.5, np.ones(2))),
    "stores": (stores, (np.arange(6.0), 5)),
    "mutual": (mutual, (np.zeros(6), 6)),
    "own names": (own_names, (np.zeros(6), 6)),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", CASES)
def test_as_python(case: str, backend: str) -> None:
    function, arguments = CASES[case]
    want, got = copy.deepcopy(arguments), copy.deepcopy(arguments)
    function.__wrapped__(*want)
    run(backend, function, got, {"gpu": 1} if backend in ("sim", "cuda") else {})
    for ours, theirs in zip(got, want, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@parpy.jit
def runge_kutta(y, t, k):
    def rate(y, t):
        return np.array([y[1], -k * y[0]])

    out = np.zeros((len(t), 2))
    out[0] = y
    for i in range(len(t) - 1):
        h = t[i + 1] - t[i]
        k1 = rate(out[i], t[i])
        k2 = rate(out[i] + 0.5 * h * k1, t[i] + 0.5 * h)
        out[i + 1] = out[i] + h * k2
    return out


def test_functions_that_return_arrays() -> None:
    arguments = np.array([1.0, 0.0]), np.linspace(0, 1, 11), 2.0
    np.testing.assert_allclose(runge_kutta(*arguments), runge_kutta.__wrapped__(*arguments), rtol=1e-12)


def test_pickled() -> None:
    x = np.arange(5.0)
    pickle.loads(pickle.dumps(squares))(x)
    np.testing.assert_array_equal(x, np.arange(5.0) ** 2 + 1)


def test_under_another_name() -> None:
    @parpy.jit
    def f(x):
        def g(v):
            return v + 1

        h = g
        x[0] = h(x[0])

    x = np.zeros(2)
    f(x)
    assert x[0] == 1


def test_assignments_to_variables_around_are_refused() -> None:
    @parpy.jit
    def assigns(x):
        n = 0

        def g():
            nonlocal n
            n += 1

        g()
        x[0] = n

    with pytest.raises(parpy.CompileError, match="nested function"):
        assigns(np.zeros(3))


def test_a_plain_function_with_a_nested_one() -> None:
    def helper(v, k):
        def g(w):
            return w * k

        return g(v) + g(1)

    @parpy.jit
    def f(x):
        for i in range(x.size):
            x[i] = helper(x[i], i)

    x = np.arange(4.0)
    f(x)
    np.testing.assert_array_equal(x, [i * i + i for i in range(4)])
