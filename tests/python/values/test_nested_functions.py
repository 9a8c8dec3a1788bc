"""Functions and lambdas that are defined in functions: they read the current values of the variables around them."""

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


row = np.full(4, 100.0)  # nested functions must not use this one


def between_parts_of_python(x):
    row = x[0]
    inverse = np.linalg.inv(x)

    def shifted(i):
        row[i] += inverse[0, i]
        return row[i] * 2

    return shifted(0) + shifted(1) * inverse[1, 1] + shifted(0)


def lambda_between_parts_of_python(x):
    row = x[1]
    size = np.linalg.det(x)
    doubled = lambda i: row[i] * 2  # noqa: E731
    row[0] += size
    return doubled(0) + doubled(1)


def assigned_behind_the_definition(x):
    size = np.linalg.det(x)

    def scaled(i):
        return row[i] * size

    row = x[2]
    size = np.linalg.det(x) + 1
    return scaled(0) + scaled(2)


def without_a_value(x):
    if x[0, 0] > 5:
        row = x[0]
    size = np.linalg.det(x)

    def scaled(i):
        return row[i] * size

    return scaled(0)


@pytest.mark.filterwarnings("ignore:(?s).*P315:parpy.PerformanceWarning")
def test_variables_of_nested_functions_are_never_those_of_the_module():
    for function in (between_parts_of_python, lambda_between_parts_of_python, assigned_behind_the_definition):
        want, got = (np.arange(16.0).reshape(4, 4) + np.eye(4) * 9 for _ in range(2))
        assert parpy.jit(function)(got) == pytest.approx(function(want), rel=1e-12)
        np.testing.assert_allclose(got, want, rtol=1e-12)
    assert (row == 100).all()
    with pytest.raises(NameError):
        parpy.jit(without_a_value)(np.eye(4))
    assert parpy.jit(without_a_value)(np.eye(4) * 6) == pytest.approx(6 * 6**4)


def chosen_definition(x, kind):
    if kind == "linear":

        def rate(v):
            return -v

    else:

        def rate(v):
            return -v * v

    for i in range(len(x)):
        x[i] += 0.1 * rate(x[i])
    return x


def chosen_definition_with_variables(x, kind):
    k = 1.0
    if kind == "linear":

        def rate(v):
            return -v * k

    else:

        def rate(v):
            return -v * v + k

    k = np.linalg.det(np.eye(2) * 2)
    for i in range(len(x)):
        x[i] += 0.1 * rate(x[i])
    for i in range(2):
        k += 1
    x[0] = rate(x[1])
    return x


def defined_again(x, kind):
    s = 1.0

    def shifted(v):
        return v + s

    t = shifted(x[0])
    before = shifted

    def shifted(v):
        return v * s

    size = np.linalg.det(np.eye(2) * 2)
    s = size + 1
    x[2] = before(t) * shifted(x[1])
    return x


def defined_again_without_python(x, kind):
    s = 1.0

    def shifted(v):
        return v + s

    before = shifted

    def shifted(v):
        x[0] += s
        return v * s

    s = 3.0
    x[1] = before(2.0) * 10 + shifted(x[2])


@pytest.mark.filterwarnings("ignore:(?s).*P315:parpy.PerformanceWarning")
@pytest.mark.parametrize(
    "function",
    [chosen_definition, chosen_definition_with_variables, defined_again, defined_again_without_python],
)
def test_functions_that_share_a_name(function):
    compiled = parpy.jit(function)
    for kind in ("linear", "square", "linear"):
        want, got = np.arange(1.0, 5.0), np.arange(1.0, 5.0)
        function(want, kind)
        compiled(got, kind)
        np.testing.assert_allclose(got, want, rtol=1e-14)
