"""Objects of classes with an `__init__` of their own, and objects that compiled code cannot make or return."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import parpy
from backends import TARGETS, compiled_throughout, options
from results import same


class Vec:
    """A vector of two numbers."""

    def __init__(self, x, y=2.0, *, scale=1):
        """Multiplies both."""
        if scale == 0:
            raise ValueError("no scale")
        self.x, self.y = x * scale, y * scale
        half: float = self.x / 2
        self.half: float = half
        self.half += 1

    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y)

    def __radd__(self, other):
        return self if other == 0 else NotImplemented

    def __mul__(self, k):
        return Vec(self.x * k, self.y * k)

    __rmul__ = __mul__

    def norm(self):
        return (self.x**2 + self.y**2) ** 0.5

    def __eq__(self, other):
        return (self.x, self.y, self.half) == (other.x, other.y, other.half)


@dataclass
class Account:
    balance: float

    def deposit(self, amount):
        self.balance += amount


def products(t, x, p):
    total = 0.0
    for i in range(x.shape[0]):
        q = x[i] * p + t * p
        total += q.x * q.half + (p * x[i]).norm()
    return total


def new_ones(t, x, p):
    total = 0.0
    for i in range(x.shape[0]):
        total += Vec(x[i]).y + Vec(y=1.0, x=x[i], scale=2).half + sum([p, p, Vec(t)]).x
    return total


def without_scale(t, x, p):
    return Vec(t, scale=int(x[0])).x


X = np.array([0.0, 1.5, -2.0])


def check(function, *given, **more):
    got = parpy.jit(function)(*given, **more)
    want = function(*given)
    assert same(got, want), (got, want)


@pytest.mark.parametrize("x", [X, X.astype(np.float32) / 3, np.arange(5, dtype=np.int8) * 30], ids=["f64", "f32", "i8"])
@pytest.mark.parametrize("function", [products, new_ones])
@pytest.mark.parametrize("backend", TARGETS)
def test_objects_in_loops(backend, function, x):
    with compiled_throughout():
        check(function, 3, x, Vec(1.5, 2.5), opts=options(backend, {}))


def test_exceptions_of_initializers():
    with pytest.raises(ValueError, match="no scale"):
        parpy.jit(without_scale)(3.0, X, Vec(1.0))


def test_a_new_initializer_is_used(monkeypatch):
    compiled = parpy.jit(new_ones)
    assert compiled(2.0, X, Vec(1.0)) == new_ones(2.0, X, Vec(1.0))

    def other(self, x, y=7.0, *, scale=3):
        self.x, self.y, self.half = x + scale, y, x * scale

    monkeypatch.setattr(Vec, "__init__", other)
    assert compiled(2.0, X, Vec(1.0)) == new_ones(2.0, X, Vec(1.0))


def deposits(x):
    account = Account(1.0)
    for i in range(x.shape[0]):
        account.deposit(x[i])
    return account.balance


def assigned(x):
    p = Vec(0.0)
    for i in range(x.shape[0]):
        p.x = p.x + x[i]
        p.y += 1
    return p


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
@pytest.mark.parametrize("function", [deposits, assigned])
def test_python_keeps_objects_that_are_assigned_to(function):
    check(function, X)


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
@pytest.mark.parametrize(
    "function", [lambda t, p: t * p, lambda t, p: sum([p, p]), lambda t, p: (t, p + p), lambda t, p: Vec(t)]
)
def test_python_returns_objects(function):
    check(function, 2.0, Vec(1.0))


def firsts(n):
    p, found = Vec(1.0), []
    for _ in range(n):
        p = p * 1.5
        found.append(p.x)
    return found


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
def test_objects_beside_lists_that_grow():
    check(firsts, 4)


def test_mistakes_with_objects_are_located():
    def wrong(p, x):
        x[0] = x[1] + 2 * p

    with pytest.raises(parpy.CompileError, match=r"test_written_initializers.*is an object of the class 'Vec'"):
        parpy.jit(wrong)(Vec(1.0), np.ones(2))
