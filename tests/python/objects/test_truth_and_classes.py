"""Conditions on objects, functions of Python that call their methods, tests for classes, and methods with the names of
array methods."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import parpy
from backends import TARGETS, compiled_throughout, options
from results import same


class Vec(NamedTuple):
    x: float
    y: float

    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y)

    def __radd__(self, number):
        return Vec(number + self.x, number + self.y)

    def __mul__(self, k):
        return Vec(self.x * k, self.y * k)

    def __rmul__(self, k):
        return self * k

    def __lt__(self, other):
        return self.dot(self) < other.dot(other)

    def __abs__(self):
        return math.sqrt(self.dot(self))

    def __bool__(self):
        return bool(self.x != 0 or self.y != 0)

    def dot(self, other):
        return self.x * other.x + self.y * other.y

    def sum(self):
        return self.x + self.y

    def copy(self):
        return Vec(self.x, self.y)

    def max(self):
        return max(self.x, self.y)

    def reshape(self, n):
        return Vec(self.x * n, self.y)


@dataclass
class Money:
    amount: float
    real: float = 1.0

    def __add__(self, other):
        if not isinstance(other, Money):
            return NotImplemented
        return Money(self.amount + other.amount)

    def __mul__(self, k):
        if isinstance(k, (int, float, np.integer)):
            return Money(self.amount * k)
        return NotImplemented

    __rmul__ = __mul__

    def __invert__(self):
        return Money(-self.amount)

    def __float__(self):
        return self.amount

    def __and__(self, other):
        return min(self.amount, other.amount)

    def sum(self):
        return self.amount

    def dot(self, other):
        return self.amount * other.amount


@dataclass
class Basket:
    items: np.ndarray
    cost: float

    def __len__(self):
        return self.items.size


class Better(Money):
    pass


def truths(p, x):
    count = 0
    for i in range(x.size):
        v = Vec(x[i], 0.0)
        if v:
            count += 1
        if not v and p:
            count += 10
    q = Vec(2.0, 0.0)
    while q:
        q = q + Vec(-1.0, 0.0)
        count += 100
    return count, bool(p), 1 if p else 2, not p


def array_names(p, x):
    total = 0.0
    for i in range(x.size):
        v = Vec(x[i], 1.0)
        total += p.dot(v) + v.sum() + v.copy().x + v.max() + v.reshape(3).x + x.sum() + x.max()
    return total, p.sum(), x.dot(x), x.reshape(2, 2)[1, 0]


def sums(p, x):
    total = sum((p, p * 2.0), Vec(0.0, 0.0))
    return total, sum([p, p]), max(p, p * 2.0), min((p, p * 2.0)), abs(p), sum((1, 2), 10)


def functions(m, x):
    return (
        float(m),
        (~m).amount,
        m & Money(0.5),
        m.sum(),
        m.dot(m),
        m.real,
        (m + m).amount,
        (m * 2).sum(),
        (x[1] * m).real,
    )


def kinds(m, x):
    return (
        isinstance(m, Money),
        isinstance(m, Better),
        isinstance(m, (Vec, Money)),
        isinstance(m, (int, np.integer, Vec)),
    )


def lengths(b, x):
    total = 0.0
    for i in range(x.size):
        if b:
            total += x[i] * len(b)
    return total, len(b)


X = np.array([0.0, 1.5, -2.0, 3.0])


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize(
    ("function", "given"),
    [
        (truths, Vec(1.0, 2.0)), (truths, Vec(0.0, 0.0)), (array_names, Vec(1.0, 2.0)), (sums, Vec(1.0, 2.0)),
        (functions, Money(2.0)), (kinds, Money(2.0)), (kinds, Better(2.0)), (kinds, Vec(1.0, 2.0)), (kinds, 3),
        (kinds, 3.0), (lengths, Basket(X, 1.0)), (lengths, Basket(X[:0], 1.0)),
    ],
)  # fmt: skip
def test_objects(backend, function, given):
    with compiled_throughout():
        got = parpy.jit(function)(given, X.copy(), opts=options(backend, {}))
    want = function(given, X.copy())
    assert len(got) == len(want)
    assert all(repr(a) == repr(b) or same(a, b) for a, b in zip(got, want, strict=True))


def test_truth_of_whole_objects():
    @parpy.jit
    def chosen(p):
        return 1 if p else 2

    class Plain:
        pass

    for each in (
        Money(0.0),
        Basket(X, 0.0),
        Basket(X[:0], 0.0),
        Vec(0.0, 0.0),
        Vec(1.0, 0.0),
        (1, 2),
        (),
        None,
        Plain(),
    ):
        assert chosen(each) == (1 if each else 2)


def test_uncompilable_method_of_a_class():
    """A method that no value of the call needs may be outside of the language."""

    class Odd:
        def __init__(self):
            self.a = 2.0

        def __bool__(self):
            try:
                return self.a > 0
            finally:
                pass

        def __add__(self, other):
            return {other: self}

    @parpy.jit
    def read(odd, x, flag):
        if flag:
            x[0] += odd.a + 1
        return x[0]

    assert read(Odd(), np.ones(1), True) == 4.0


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
def test_declined_operands():
    @parpy.jit
    def add(m, n):
        return (m + n).amount

    assert add(Money(1.0), Money(2.0)) == 3.0
    with pytest.raises((TypeError, AttributeError, parpy.CompileError)):
        add(Money(1.0), 2.0)
