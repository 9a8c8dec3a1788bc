"""Operators that classes of named tuples and of objects define."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import parpy
from backends import BACKENDS, TARGETS, compiled_throughout, options, run
from results import same


class Vec(NamedTuple):
    x: float
    y: float

    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Vec(self.x - other.x, self.y - other.y)

    def __mul__(self, k):
        return Vec(self.x * k, self.y * k)

    def __rmul__(self, k):
        return self * k

    def __truediv__(self, k):
        return Vec(self.x / k, self.y / k)

    def __neg__(self):
        return Vec(-self.x, -self.y)

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    def __lt__(self, other):
        return self @ self < other @ other

    def __eq__(self, other):
        return self.x == other.x


@dataclass(frozen=True)
class Money:
    amount: float

    def __add__(self, other):
        return Money(self.amount + other.amount)

    def __radd__(self, number):
        return Money(self.amount + number)

    def __pow__(self, n):
        return self.amount**n

    def __ge__(self, other):
        return self.amount >= other.amount


def moves(p, v, n):
    for i in range(n):
        p = p + v * 0.5 - (2 * v) / 4.0
    p += v
    return p, -p, p[1]


def compares(p, v, n):
    return p < v, v > p, p == v, p != v, p @ v, p == Vec(1.0, 7.0), (p + v)[1]


def sums(p, v, n):
    total = Money(p.x)
    for i in range(n):
        total = total + Money(v.y * i)
    total += Money(1.0)
    return total.amount, (2 + total).amount, total**2, total >= Money(3.0)


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("program", [moves, compares, sums], ids=lambda f: f.__name__)
def test_named_tuples(backend, program):
    given = Vec(1.0, 2.0), Vec(3.0, -0.5), 4
    with compiled_throughout():
        got = parpy.jit(program)(*given, opts=options(backend, {}))
    assert same(tuple(map(tuple_of, got)), tuple(map(tuple_of, program(*given))))


def tuple_of(value):
    return tuple(value) if isinstance(value, tuple) else value


def of_objects(a, b, n):
    total = a
    for _ in range(n):
        total = total + b
    return (1 + total).amount, a >= b, a**3


@pytest.mark.parametrize("backend", TARGETS)
def test_objects(backend):
    given = Money(2.0), Money(3.5), 3
    assert parpy.jit(of_objects)(*given, opts=options(backend, {})) == of_objects(*given)


def stored(x, out):
    center = Vec(0.5, 0.25)
    for i in range(len(out)):
        v = (Vec(x[i, 0], x[i, 1]) - center) * 2.0
        out[i] = v @ v if center < v else -v.x


@pytest.mark.parametrize("backend", BACKENDS)
def test_values_of_loops(backend):
    x = np.random.default_rng(3).random((6, 2))
    want, got = np.zeros(6), np.zeros(6)
    stored(x, want)
    run(backend, parpy.jit(stored), (x, got), {})
    np.testing.assert_array_equal(got, want)


class Odd(NamedTuple):
    x: float
    y: float

    def __len__(self):
        return 7

    def __getitem__(self, i):
        return 42.0

    def __contains__(self, v):
        return True


class Scaled(NamedTuple):
    x: float

    def __imul__(self, k):
        return Scaled(self.x * k + 1)


def asks(p):
    return len(p), p[0], 9.0 in p


def updates(p):
    p *= 2
    return p.x


@pytest.mark.parametrize("program, given", [(asks, Odd(1.0, 2.0)), (updates, Scaled(3.0))])
def test_what_else_a_class_of_named_tuples_decides_is_left_to_python(program, given):
    with pytest.warns(parpy.PerformanceWarning, match="has its own __"):
        assert parpy.jit(program)(given) == program(given)


def makes(x):
    s = 0.0
    for i in range(len(x)):
        s += len(Odd(x[i], 1.0))
    return s


def test_such_tuples_are_not_made():
    with pytest.raises(parpy.CompileError, match="the class 'Odd' has its own __len__"):
        parpy.print_compiled(parpy.jit(makes), (np.ones(2),), parpy.par({}))


class Gain:
    """Multiplies arrays by itself, which compiled code cannot: the array would call its own method first."""

    __array_ufunc__ = None

    def __init__(self, factor):
        self.factor = factor

    def __rmul__(self, x):
        return x * self.factor


class Window:
    def __init__(self, weights):
        self.weights = weights

    def __array__(self, dtype=None, copy=None):
        return self.weights


def times(x, g):
    return x * g


def sum_and_product(x, g):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i]
    return total, x * g


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("function", [times, sum_and_product])
@pytest.mark.parametrize("given", [Gain(2.5), Window(np.array([1.0, 2.0, 4.0])), 2.5, np.ones(3)])
def test_python_computes_with_an_array_and_an_object(backend, function, given):
    x = np.arange(3.0)
    want, got = function(x, given), parpy.jit(function)(x, given, opts=options(backend, {}))
    assert same(got, want)


def test_objects_without_operators_are_refused():
    class Plain:
        pass

    with pytest.raises(TypeError):
        times(np.arange(3.0), Plain())
    with pytest.raises(TypeError):
        parpy.jit(times)(np.arange(3.0), Plain())
