"""Calls `f(t, y, *args)` with a tuple among the arguments are compiled, as if its elements were written out."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import parpy

OPTIONS = [parpy.auto(backend=parpy.CompileBackend.Cpu), parpy.auto(backend=parpy.CompileBackend.Sim)]


def steps(f, start, n, h, args=()):
    y = start.copy()
    out = np.zeros((n, len(start)))
    for i in range(n):
        first = f(i * h, y, *args)
        y = y + h * f(i * h + h / 2, y + h / 2 * first, *args)
        out[i] = y
    return out


def bisected(f, a, b, *args, tol=1e-10):
    fa = f(a, *args)
    n = 0
    while b - a > tol:
        c = 0.5 * (a + b)
        fc = f(c, *args)
        n += 1
        if fa * fc < 0:
            b = c
        else:
            a, fa = c, fc
    return 0.5 * (a + b), n


def mixed(p, q, x):
    x[0] += np.hypot(*p)
    x[1] += max(*p, 2, *q)
    return divmod(*q)


def of_other_names(x, args):
    total = 0.0
    for part in (args, (1, 2)):
        args = part
        total += max(*args)
    x[0] = total


def rotation(t, y, a, b):
    return np.array([a * y[1], -b * y[0]])


def decay(t, y):
    return -0.5 * y


def with_array(t, y, k):
    return k * y


CASES = [
    (steps, (rotation, np.array([1.0, 0.0]), 5, 0.1, (2.0, 3))),
    (steps, (decay, np.array([1.0, 0.5], np.float32), 5, 0.1)),
    (steps, (with_array, np.ones(3), 4, 0.1, (np.arange(3.0),))),
    (bisected, (lambda x, k, m: np.cos(x) - k * x + m, 0.0, 2.0, 1.5, 0)),
    (bisected, (lambda x: x * x - 2, 0.0, 2.0)),
    (mixed, ((3.0, 4), (17, 5), np.zeros(2))),
    (of_other_names, (np.zeros(1), (5, 7.5))),
]


def plain(value):
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape
    return [plain(each) for each in value] if isinstance(value, tuple) else float(value or 0)


@pytest.mark.parametrize("opts", OPTIONS, ids=["cpu", "sim"])
@pytest.mark.parametrize(("function", "arguments"), CASES, ids=range(len(CASES)))
def test_results_are_pythons(function, arguments, opts):
    compiled = parpy.jit(function)
    want, got = (tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments) for _ in range(2))
    for _ in range(2):
        expected = function(*want)
        result = compiled(*got, opts=opts)
        assert plain(result) == plain(expected)
        for a, b in ((result, expected), *zip(got, want, strict=True)):
            if isinstance(b, np.ndarray):
                np.testing.assert_allclose(a, b, rtol=1e-6 if b.dtype == np.float32 else 1e-13)


@pytest.mark.parametrize("function", [rotation, parpy.jit(rotation)], ids=["plain", "jit"])
def test_python_runs_no_part(function):
    compiled = parpy.jit(steps)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for args in ((2.0, 3), (2.0, 3.5), (1, 1)):
            got = compiled(function, np.array([1.0, 0.0]), 5, 0.1, args)
            np.testing.assert_allclose(got, steps(rotation, np.array([1.0, 0.0]), 5, 0.1, args), rtol=1e-13)


def test_tuples_of_other_lengths():
    compiled = parpy.jit(bisected)
    for args in ((1.5,), (), (2.5,), ()):
        f = (lambda x, k: np.cos(x) - k * x) if args else np.cos
        assert compiled(f, 0.0, 2.0, *args) == pytest.approx(bisected(f, 0.0, 2.0, *args), rel=1e-12)


def test_a_list_may_change():
    compiled = parpy.jit(steps)
    got = compiled(rotation, np.array([1.0, 0.0]), 3, 0.1, [2.0, 3])
    np.testing.assert_allclose(got, steps(rotation, np.array([1.0, 0.0]), 3, 0.1, (2.0, 3)), rtol=1e-13)


def test_a_missing_argument_is_named():
    with pytest.raises(TypeError, match=r"P105.*the lambda gets no value for its parameter 'k'"):
        parpy.jit(bisected)(lambda x, k: np.cos(x) - k * x, 0.0, 2.0)
