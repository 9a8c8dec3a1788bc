"""Objects whose classes define access to attributes and entries: Python runs the statements that use them."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import parpy
from states import state


def adds_and_keeps(p, y):
    p.x += y
    p.y = p.x


class Watched:
    def __init__(self) -> None:
        object.__setattr__(self, "x", 1.0)
        object.__setattr__(self, "log", [])

    def __setattr__(self, name, value):
        self.log.append((name, value))
        object.__setattr__(self, name, value)


def perhaps(w, limit):
    if limit > 2:
        w.x = 5.0
        w.x = 5.0
    if limit > 3:
        raise ValueError("too much")


def test_own_setattr():
    w, compiled = Watched(), parpy.jit(perhaps)
    compiled(w, 1)
    assert w.log == []
    with pytest.warns(parpy.PerformanceWarning, match="'Watched' has its own __setattr__"):
        compiled(w, 3)
    assert w.log == [("x", 5.0)] * 2
    other = Watched()
    with pytest.raises(ValueError, match="too much"):
        compiled(other, 4)
    assert other.log == [("x", 5.0)] * 2


class Doubling(dict):
    def __setitem__(self, key, value):
        dict.__setitem__(self, key, 2 * value)


class Halving(dict):
    def __getitem__(self, key):
        return dict.__getitem__(self, key) / 2


class Read:
    def __init__(self) -> None:
        self.x, self.seen = 1.0, 0

    def __getattribute__(self, name):
        found = object.__getattribute__(self, name)
        return found * 2 if name == "x" else found


class Higher:
    def __set_name__(self, owner, name):
        self.name = f"_{name}"

    def __get__(self, owner, kind=None):
        return vars(owner)[self.name]

    def __set__(self, owner, value):
        vars(owner)[self.name] = value + 1


class Described:
    x = Higher()

    def __init__(self) -> None:
        self.x = 1.0


class Counting:
    def __init__(self) -> None:
        self.count = self.y = 0

    def counted(self):
        self.count += 1

    @property
    def x(self):
        self.counted()
        return self.count


def adds_to(o, n):
    s = 0.0
    for i in range(n):
        o.x += 0.5 * i
        s += o.x
    return s


def adds_to_inner(o, n):
    s = 0.0
    for i in range(n):
        o.inner.x += 0.5 * i
        s += o.inner.x
    return s


def adds_to_entry(d, x):
    for i in range(len(x)):
        d["x"] += float(x[i])
        x[i] = d["x"]


def adds_to_another(o, x):
    for i in range(len(x)):
        o.y += 1
        x[i] = o.x


def keeps_both(o, n):
    o.y += n
    a = o.x
    b = o.x
    return a, b


class Flag:
    def __init__(self) -> None:
        self.x = True
        self.y = 0


def adds_flags(o, n):
    for _ in range(n):
        o.x = True
        o.x += True


def keeps_sum_of_flags(o, n):
    for _ in range(n):
        o.x = True
        o.x = o.x + o.x


def sets_flags(o, n):
    for _ in range(n):
        o.x &= False
        o.x |= n > 1


@pytest.mark.filterwarnings("ignore:.*P315:parpy.PerformanceWarning")
@pytest.mark.parametrize(
    ("function", "make"),
    [
        (adds_to, lambda: (Watched(), 3)),
        (adds_to, lambda: (Read(), 3)),
        (adds_to, lambda: (Described(), 3)),
        (adds_to_inner, lambda: (SimpleNamespace(inner=Watched()), 3)),
        (adds_to_entry, lambda: (Doubling(x=1.0), np.ones(3))),
        (adds_to_entry, lambda: (Halving(x=1.0), np.ones(3))),
        (adds_flags, lambda: (Flag(), 1)),
        (keeps_sum_of_flags, lambda: (Flag(), 1)),
        (sets_flags, lambda: (Flag(), 2)),
        (adds_and_keeps, lambda: (SimpleNamespace(x=True, y=0), True)),
    ],
)
def test_classes_with_their_own_ways(function, make):
    compiled = parpy.jit(function)
    for _ in range(2):
        want, got = make(), make()
        expected = function(*want)
        assert state(compiled(*got)) == state(expected)
        assert state(got) == state(want)


@pytest.mark.filterwarnings("ignore:.*P315:parpy.PerformanceWarning")
@pytest.mark.parametrize(("function", "more"), [(adds_to_another, np.ones(3)), (keeps_both, 3)])
def test_properties_that_assign(function, more):
    compiled = parpy.jit(function)
    compiled(Counting(), copy.copy(more))  # the first call reads the property once more, to learn its type
    for _ in range(2):
        want, got = ((Counting(), copy.copy(more)) for _ in range(2))
        expected = function(*want)
        assert state(compiled(*got)) == state(expected)
        assert state(got) == state(want)


class Changing:
    x: Any = 2.0

    def __init__(self) -> None:
        self.y = 1


def test_class_attributes_that_become_properties(monkeypatch):
    compiled = parpy.jit(adds_to_another)
    for x in (2.0, property(lambda self: self.y * 3)):
        monkeypatch.setattr(Changing, "x", x)
        want, got = (Changing(), np.zeros(3)), (Changing(), np.zeros(3))
        adds_to_another(*want)
        compiled(*got)
        assert state(got) == state(want)
