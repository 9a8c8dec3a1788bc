"""Methods and properties of named tuples, and `_replace`, against Python."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import parpy
from backends import BACKENDS, TARGETS, copies, options, run

ZEROS = np.zeros(2)


class Vector(NamedTuple):
    x: float
    y: float

    def norm(self):
        return (self.x**2 + self.y**2) ** 0.5

    def scaled(self, k):
        return Vector(self.x * k, self.y * k)

    def plus(self, other):
        return Vector(self.x + other.x, self.y + other[1])

    @property
    def area(self):
        return self.x * self.y

    def with_default(self, k=2.0, *, more=None, root=False):
        value = self.x * k + (0.0 if more is None else more)
        return value**0.5 if root else value

    def with_array(self, k=ZEROS):
        return k[0]


class Labelled(Vector):
    def norm(self):
        return abs(self.x) + len(self)


def of_argument(v, n):
    s = v.area
    for i in range(n):
        s += v.scaled(i).plus(v).norm()
    return s


def of_defaults(v, n):
    s = 0.0
    for i in range(n):
        w = v if i % 2 == 0 else Vector(2.0, i)
        s += w.with_default() + w.with_default(3.0, more=i) + w.with_default(root=True)
    return s


def of_locals(n):
    v = Vector(1.0, 2.0)
    for i in range(n):
        v = v._replace(x=v.x + v.y, y=i * 1.0)
    return v.norm(), v, v._replace(y=7.0)


def in_parallel(x, out):
    parpy.label("n")
    for i in range(len(out)):
        v = Vector(x[i, 0], x[i, 1])
        out[i] = v.scaled(2.0).norm() + v.area


@pytest.mark.parametrize("backend", TARGETS)
def test_as_python(backend):
    compiled = parpy.jit(of_argument)
    for v in (Vector(3.0, 4.0), Labelled(3.0, 4.0)):
        got = compiled(v, 3, opts=options(backend, {}))
        np.testing.assert_allclose(got, of_argument(v, 3), rtol=1e-12)
    given = Vector(3.0, 4.0), 5
    assert parpy.jit(of_defaults)(*given, opts=options(backend, {})) == pytest.approx(of_defaults(*given), rel=1e-15)
    got = parpy.jit(of_locals)(3, opts=options(backend, {}))
    (norm, *rest), want = got, of_locals(3)
    assert norm == pytest.approx(want[0], rel=1e-15)  # a power of 0.5 is no root on a GPU
    assert tuple(rest) == tuple(want[1:])
    assert type(got[1]) is Vector


@pytest.mark.parametrize("backend", BACKENDS)
def test_in_parallel(backend):
    given = np.random.default_rng(2).random((6, 2)), np.zeros(6)
    want, got = copies(given), copies(given)
    in_parallel(*want)
    run(backend, parpy.jit(in_parallel), got, {"n": 6})
    np.testing.assert_allclose(got[1], want[1], rtol=1e-12)


def test_a_changed_method_is_compiled_anew():
    class Changing(NamedTuple):
        x: float

        def value(self):
            return self.x

    @parpy.jit
    def value_of(v):
        return v.value() + 0.0

    assert value_of(Changing(2.0)) == 2
    Changing.value = lambda self: self.x * 3
    assert value_of(Changing(2.0)) == 6


@parpy.jit
def wrong_name(v):
    return v._replace(z=1.0).x


@parpy.jit
def needs_array(v):
    return v.with_array()


def test_what_is_refused():
    with pytest.raises(parpy.CompileError, match="gets a value for 'z', which it does not have"):
        wrong_name(Vector(1.0, 2.0))
    with pytest.raises(parpy.CompileError, match=r"P024\]: .* without 'with_array'"):
        needs_array(Vector(1.0, 2.0), opts=parpy.par({}))
