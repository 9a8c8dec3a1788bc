"""Methods of which Python runs a part, and methods that have the names of methods of arrays."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options
from results import same


class Polynomial:
    def __init__(self, c):
        self.c = np.asarray(c, float)

    @property
    def degree(self):
        return len(self.c) - 1

    def __call__(self, x):
        value = 0.0
        for a in self.c:
            value = value * x + a
        return value

    def derivative(self):
        n = self.degree
        return Polynomial([self.c[i] * (n - i) for i in range(n)])

    @staticmethod
    def clip(v, low, high):
        return max(low, min(v, high))

    def sum(self, v):
        return self.c[0] + v

    def roots_of(self, values):
        for v in values:
            if self(v) < 0:
                yield v


def makes_others(p, x):
    d = p.derivative()
    for i in range(len(x)):
        x[i] -= p(x[i]) / d(x[i])
    return d.degree, p.derivative().derivative()(2.0)


def has_names_of_arrays(p, x):
    for i in range(len(x)):
        x[i] = p.clip(p(x[i]), 0.0, 4.0) + p.sum(1.0)
    return p.degree, x.sum()


def runs_over_a_generator(p, x):
    s = 0.0
    for v in p.roots_of(x):
        s += v
    return s


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("function", [makes_others, has_names_of_arrays, runs_over_a_generator])
def test_as_python(backend, function):
    compiled = parpy.jit(function)
    for coefficients in ([1, 2, -3], [2.0, 0, 1, -5]):
        got, want = np.arange(1.0, 5), np.arange(1.0, 5)
        result = compiled(Polynomial(coefficients), got, opts=options(backend, {}))
        assert same(result, function(Polynomial(coefficients), want))
        np.testing.assert_array_equal(got, want)
