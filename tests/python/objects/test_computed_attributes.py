"""Attributes of classes: properties that are computed when they are read, read-only attributes, and attributes of
metaclasses."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass
from functools import cached_property

import numpy as np
import pytest

import parpy
from parpy.calls import performance
from parpy.calls.objects import Reads
from parpy.syntax.names import source_of

pytestmark = pytest.mark.filterwarnings("ignore:.*P315:parpy.PerformanceWarning")
X = np.arange(4.0)


class Table:
    def __init__(self, k: float, limit: float = 1.0) -> None:
        self.k, self.limit = k, limit

    @cached_property
    def values(self):
        return self.k * np.arange(4.0)

    @cached_property
    def scale(self):
        if self.limit < 0:
            raise ValueError("no scale")
        return 2.0 * self.limit

    def scaled(self, x):
        return x * self.scale


def reads_one(table, x, scaled):
    s = 0.0
    for i in range(x.shape[0]):
        if scaled:
            s += table.scale * x[i]
        else:
            s += table.k * x[i]
    return s


def reads_in_a_method(table, x, scaled):
    s = 0.0
    for i in range(x.shape[0]):
        s += table.values[i]
        if scaled:
            s += table.scaled(x[i])
    return s


@pytest.mark.parametrize("function", [reads_one, reads_in_a_method])
def test_attributes_that_are_computed_once(function):
    made = parpy.jit(function)
    for limit in (1.0, -1.0, 3.0, -2.0):
        table = Table(2.0, limit)
        for _ in range(2):
            assert made(table, X, False) == function(Table(2.0, limit), X, False)
        if limit > 0:
            assert made(table, X, True) == function(Table(2.0, limit), X, True)
        else:
            with pytest.raises(ValueError, match="no scale"):
                made(table, X, True)


def test_loops_that_read_them_are_told(monkeypatch):
    monkeypatch.setattr(performance, "_told", set())  # once for each place
    reason = "'scale' could not be computed before the call"
    with pytest.warns(parpy.PerformanceWarning, match=rf"P315.*Python runs this loop: {reason}"):
        parpy.jit(reads_one)(Table(1.0, -1.0), X, False)


@dataclass(frozen=True)
class Fixed:
    x: float


def assigns(p, y, late):
    y[0] = 1.0
    if late:
        p.x = 2.0
    y[1] = p.x


def test_objects_that_are_frozen():
    made = parpy.jit(assigns)
    y = np.zeros(2)
    made(Fixed(3.0), y, False)
    assert y.tolist() == [1, 3]
    y[:] = 0
    with pytest.raises(FrozenInstanceError):
        made(Fixed(3.0), y, True)
    assert y.tolist() == [1, 0]


class Calls:
    def __call__(self, x):
        return x + 1


@pytest.mark.parametrize(("kind", "attributes"), [(Calls, []), (Fixed, ["x"]), (type("Empty", (), {}), [])])
def test_classes_are_called_and_their_objects_are_not(kind, attributes):
    reads = Reads(source_of(assigns))
    value = kind(1.0) if kind is Fixed else kind()
    assert reads.of(value) == attributes
    assert callable(kind) and callable(value) == (kind is Calls)
