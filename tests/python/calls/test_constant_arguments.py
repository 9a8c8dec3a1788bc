"""Functions, lambdas, types, texts and None as arguments, from Python and from compiled code."""

from __future__ import annotations

import math

import numpy as np
import pytest

import parpy
from backends import TARGETS, copies, options


@parpy.jit
def successor(v):
    return v + 1


def halved(v):
    return v / 2


@parpy.jit
def applied(f, x, times=1):
    parpy.label("i")
    for i in range(x.shape[0]):
        for _ in range(times):
            x[i] = f(x[i])


@parpy.jit
def folded(x, mask=None, *, mode="sum"):
    found = 0.0
    for i in range(x.shape[0]):
        if mask is None or mask[i]:
            if mode == "sum":
                found += x[i]
            elif mode in ("max", "maximum"):
                found = max(found, x[i])
            else:
                found = -1.0
    return found


@parpy.jit
def thirds(n, T):
    made = np.zeros(n, dtype=T)
    for i in range(n):
        made[i] = i / 3
    return made


@parpy.jit
def runge_kutta(f, y, t, h):
    k1 = f(t, y)
    k2 = f(t + h / 2, y + h / 2 * k1)
    k3 = f(t + h / 2, y + h / 2 * k2)
    k4 = f(t + h, y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def decay(t, y):
    return -0.5 * y + t


def oscillator(t, y):
    made = np.empty_like(y)
    made[0] = y[1]
    made[1] = -y[0]
    return made


@parpy.jit
def many(y, steps):
    parpy.label("i")
    for i in range(y.shape[0]):
        v = y[i]
        for n in range(steps):
            v = runge_kutta(decay, v, n * 0.1, 0.1)
        y[i] = v


@parpy.jit
def of_a_system(f, y, steps):
    for n in range(steps):
        y[:] = runge_kutta(f, y, n * 0.1, 0.1)


@parpy.jit
def twice(f, v):
    return f(f(v))


@parpy.jit
def both(f, v):
    return f(v), v


@parpy.jit
def in_compiled_code(x, mask):
    for i in range(x.shape[0]):
        a, b = both(successor, x[i])
        x[i] = twice(successor, a) + b + twice(math.sqrt, a)
    x[0] += folded(x, mode="max") + folded(x, mask)


def check(backend, function, *arguments, mapping=None, **named):
    ours, pythons = (copies(arguments) for _ in range(2))
    got = function(*ours, **named, opts=options(backend, mapping or {}))
    want = function(*pythons, **named, seq=True)
    for each, other in zip([got, *ours], [want, *pythons], strict=True):
        if isinstance(other, np.ndarray | float):
            np.testing.assert_allclose(each, other, rtol=1e-13)


@pytest.mark.parametrize("backend", TARGETS)
def test_functions(backend):
    x = np.arange(1.0, 8)
    for f in (successor, halved, np.sqrt, math.sin, abs, lambda v: v * 3):
        check(backend, applied, f, x, mapping={"i": 4})
        check(backend, applied, f, x, 2)
    check(backend, many, x, 5, mapping={"i": 4})
    check(backend, of_a_system, oscillator, np.array([1.0, 0.5]), 7)
    check(backend, in_compiled_code, x, x > 3)


@pytest.mark.parametrize("backend", TARGETS)
def test_texts_none_and_types(backend):
    x = np.arange(1.0, 8)
    for mask in (None, x > 3):
        for mode in ("sum", "max", "maximum", "other"):
            check(backend, folded, x, mask, mode=mode)
    for kind in (np.float32, np.int64, np.dtype("f8"), "f4", np.complex128):
        made = thirds(4, kind, opts=options(backend, {}))
        want = thirds(4, kind, seq=True)
        assert made.dtype == want.dtype
        assert np.array_equal(made, want)


def test_functions_with_closures_are_told_apart():
    def times(k):
        return lambda v: v * k

    for k in (2, 3, 2):
        x = np.ones(3)
        applied(times(k), x)
        assert x.tolist() == [k] * 3


def test_equal_lambdas_are_compiled_once():
    def made():
        return lambda v: v - 1

    assert made() is not made()
    x = np.ones(3)
    for _ in range(3):
        applied(made(), x)
    assert x.tolist() == [-2] * 3
    assert compiled_for(x, made(), made()) == 1


def compiled_for(x, *functions):
    """The number of programs that calls with these functions need."""
    seen = set()

    @parpy.jit
    def each_by(f, x):
        for i in range(x.shape[0]):
            x[i] = f(x[i])

    for f in functions:
        each_by(f, x)
        seen.add(parpy.print_compiled(each_by, [f, x]))
    return len(seen)


def test_a_changed_global_is_noticed(monkeypatch):
    x = np.array([4.0])
    many(x, 1)
    first = x[0]
    monkeypatch.setitem(globals(), "decay", lambda t, y: 0.0 * y)
    x = np.array([4.0])
    many(x, 1)
    assert x[0] == 4.0 != first


def test_what_explains_them():
    x = np.ones(3)
    assert "applied on Cpu" in str(parpy.explain(applied, successor, x))
    assert "applied" in parpy.print_compiled(applied, [successor, x])


@pytest.mark.parametrize("f", [3, np.ones(2)])
def test_numbers_are_not_called(f):
    with pytest.raises(parpy.CompileError, match=r"P022\]: the called function must be known"):
        applied(f, np.ones(3))
