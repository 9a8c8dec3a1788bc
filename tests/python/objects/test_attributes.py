"""Named tuples, dataclasses and other objects as arguments: compiled code reads their attributes at each call."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import parpy
from backends import BACKENDS, run


class Parameters(NamedTuple):
    rate: float
    count: int


@dataclass(frozen=True)
class Table:
    scale: float
    values: np.ndarray


@parpy.jit
def damp(p, x):
    for i in range(p.count):
        x[i] *= p.rate


@parpy.jit
def look_up(table, y):
    for i in range(y.size):
        y[i] += table.scale * table.values[i]
    table.values[0] = -1.0


@parpy.jit
def of_both(p, table, y):
    for i in range(len(table.values)):
        y[i] += table.values.sum() + p.rate


@dataclass
class Simulation:
    dt: float
    position: np.ndarray
    velocity: np.ndarray
    steps: int = 0

    @parpy.jit
    def advance(self, n):
        for _ in range(n):
            self.position[:] += self.dt * self.velocity

    def run(self, n: int) -> None:
        self.advance(n)
        self.steps += n


@pytest.mark.parametrize("backend", BACKENDS)
def test_named_tuples(backend: str) -> None:
    for rate, count in ((2.0, 5), (0.5, 3), (np.float32(0.25), np.int32(8))):
        x, want = np.arange(8.0), np.arange(8.0)
        damp.__wrapped__(Parameters(rate, count), want)
        run(backend, damp, (Parameters(rate, count), x), {"gpu": 1} if backend in ("sim", "cuda") else {})
        np.testing.assert_array_equal(x, want)


@pytest.mark.parametrize("make", [Table, lambda s, v: SimpleNamespace(scale=s, values=v)], ids=["dataclass", "plain"])
def test_objects_with_arrays(make: Any) -> None:
    for kind in (np.float64, np.int32):
        values = np.arange(5).astype(kind)
        table, y = make(2.0, values), np.ones(5)
        look_up(table, y)
        np.testing.assert_array_equal(y, [1, 3, 5, 7, 9])
        assert table.values is values
        assert values[0] == -1


def test_several() -> None:
    p, table, y = Parameters(0.5, 2), Table(1.0, np.arange(3.0)), np.ones(4)
    of_both(p, table, y)
    np.testing.assert_array_equal(y, [4.5, 4.5, 4.5, 1.0])


def test_methods() -> None:
    simulation = Simulation(0.5, np.zeros(3), np.arange(3.0))
    simulation.run(4)
    simulation.dt = 1.0
    simulation.run(1)
    np.testing.assert_array_equal(simulation.position, 3 * np.arange(3.0))
    assert simulation.steps == 5


def test_attributes_that_share_memory() -> None:
    memory = np.arange(6.0)
    table, plain = Table(1.0, memory[1:]), np.arange(6.0)
    look_up(table, memory[:5])
    look_up.__wrapped__(Table(1.0, plain[1:]), plain[:5])
    np.testing.assert_array_equal(memory, plain)


def test_dicts_are_read_alike() -> None:
    x = np.ones(3)
    damp({"rate": 3.0, "count": 2}, x)
    np.testing.assert_array_equal(x, [3, 3, 1])


def test_missing_attributes() -> None:
    with pytest.raises(parpy.CompileError, match="count"):
        damp(SimpleNamespace(rate=1.0), np.ones(3))
    with pytest.raises(parpy.CompileError, match="no such attribute"):
        damp(1.5, np.ones(3))


def test_arrays_keep_their_attributes() -> None:
    @parpy.jit
    def f(x, y):
        for i in range(x.size):
            y[i] = x[i].real + x.shape[0]

    y = np.zeros(3)
    f(np.arange(3.0), y)
    np.testing.assert_array_equal(y, [3, 4, 5])
