"""Methods of base classes: inherited ones, and those that methods of the same name call."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options


class Base:
    def __init__(self):
        self.k, self.offset = 2.0, 0.5

    def scale(self, v):
        return self.k * v

    def apply(self, x):
        for i in range(len(x)):
            x[i] = self.scale(x[i])


class Shifted(Base):
    def scale(self, v):
        return super().scale(v) + self.offset


class Twice(Shifted):
    def scale(self, v):
        return super().scale(v) * 2


class ByName(Base):
    def scale(self, v):
        return Base.scale(self, v) - 1


class Other:
    def scale(self, v):
        return v


class OfTwo(Twice, Other):
    pass


class Between(Shifted):
    def scale(self, v):
        return 10 * v


class Diamond(Twice, Between):
    """In the method resolution order, Twice is followed by Between, not by Shifted, its base."""


class Mixin:
    """Its super() is the next class in the method resolution order."""

    def scale(self, v):
        return super().scale(v) + 100

    @property
    def unit(self):
        return super().unit + 1


class Unit:
    @property
    def unit(self):
        return 0.25

    def scale(self, v):
        return v * self.unit


class Mixed(Mixin, Base, Unit):
    def scale(self, v):
        return super().scale(v) + self.unit


def calls(o, x):
    for i in range(len(x)):
        x[i] = o.scale(x[i])


def hands_on(o, x):
    o.apply(x)


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("function", [calls, hands_on])
@pytest.mark.parametrize("kind", [Base, Shifted, Twice, ByName, OfTwo, Diamond, Mixed])
def test_as_python(backend, function, kind):
    got, want = np.arange(4.0), np.arange(4.0)
    parpy.jit(function)(kind(), got, opts=options(backend, {}))
    function(kind(), want)
    np.testing.assert_array_equal(got, want)
