"""Functions that only read objects whose classes run code on reads, and classes that change between
calls."""

from __future__ import annotations

import warnings
from collections import defaultdict
from typing import Any

import pytest

import parpy
from states import state

pytestmark = pytest.mark.filterwarnings("ignore:.*P315:parpy.PerformanceWarning")


class Counter:
    def __init__(self) -> None:
        self.n = 0
        self.w = 2.0

    def count(self) -> float:
        self.n += 1
        return float(self.n)


class WithProperty(Counter):
    v = property(Counter.count)


class CountingReads:
    def __get__(self, owner, kind=None):
        return owner.count()


class WithDescriptor(Counter):
    v = CountingReads()


class WithGetattribute(Counter):
    def __getattribute__(self, name):
        return Counter.count(self) if name == "v" else object.__getattribute__(self, name)


class WithGetattr(Counter):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self.count()


class WithGetitem(Counter):
    v = 3.0

    def __getitem__(self, key):
        return self.count()


class CountingDict(dict):
    reads = 0

    def __getitem__(self, key):
        self.reads += 1
        return self.reads


class MissingDict(dict):
    def __missing__(self, key):
        self[key] = len(self) + 1.0
        return self[key]


class NamedEntries(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class NamedByAnother(dict):
    __getattr__ = dict.__getitem__


class DefaultEntries(dict):
    def __getattr__(self, name):
        return self.get(name, 7.0)


def reads_attributes(o):
    a = o.v
    b = o.v
    return a + 10 * b


def reads_entries(o):
    a = o["v"]
    b = o["v"]
    return a + 10 * b


def reads_perhaps(o):
    if o["a"] > 2.0:
        return o["v"]
    return o["a"]


@pytest.mark.parametrize(
    ("function", "make"),
    [
        (reads_attributes, WithProperty),
        (reads_attributes, WithDescriptor),
        (reads_attributes, WithGetattribute),
        (reads_attributes, WithGetattr),
        (reads_attributes, WithGetitem),
        (reads_entries, WithGetitem),
        (reads_entries, lambda: CountingDict(v=1.0)),
        (reads_entries, MissingDict),
        (reads_entries, lambda: defaultdict(float)),
        (reads_perhaps, lambda: defaultdict(float, a=1.0)),
        (reads_perhaps, lambda: defaultdict(float, a=3.0)),
        (reads_attributes, lambda: NamedEntries(v=2.0)),
        (reads_attributes, lambda: NamedByAnother(v=2.0)),
        (reads_attributes, lambda: DefaultEntries(v=2.0)),
        (reads_attributes, DefaultEntries),
    ],
)
def test_reads_are_made_where_python_makes_them(function, make):
    compiled = parpy.jit(function)
    for _ in range(3):
        want, got = make(), make()
        expected = function(want)
        assert compiled(got) == expected
        assert state(got) == state(want)
        assert getattr(got, "__dict__", None) == getattr(want, "__dict__", None)


@pytest.mark.parametrize("make", [lambda: NamedEntries(v=2.0), lambda: NamedByAnother(v=2.0)])
def test_dicts_with_names_are_compiled(make):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert parpy.jit(reads_attributes)(make()) == 22.0


class Fixed:
    def __get__(self, owner, kind=None):
        return 9.0

    def __set__(self, owner, value):
        pass


def only_reads(o):
    return o.v * 2.0 + o.method()


def assigns_once(o):
    o.s = o.v * 2.0
    return o.s


def assigns_in_a_loop(o):
    for _ in range(3):
        o.s += o.method()
    return o.s


def _class() -> Any:
    class Changing:
        def __init__(self) -> None:
            self.v, self.s = 3.0, 0.0

        def method(self):
            return self.v + 1

    return Changing


@pytest.mark.parametrize("function", [only_reads, assigns_once, assigns_in_a_loop])
def test_classes_change_between_calls(function):
    compiled = parpy.jit(function)
    kinds = _class(), _class()
    want, got = (kind() for kind in kinds)
    changes = [
        ("v", Fixed()),
        ("v", None),
        ("method", lambda self: 5.0),
        ("v", property(lambda self: 1.0)),
        ("v", None),
        ("s", Fixed()),
        ("s", None),
    ]
    for name, value in [("other", 1), *changes]:
        for kind in kinds:
            if value is None:
                delattr(kind, name)
            else:
                setattr(kind, name, value)
        for _ in range(2):
            assert function(want) == compiled(got)
            assert state(got) == state(want)
