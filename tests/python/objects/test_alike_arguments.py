"""Calls with objects: facts found for some objects are reused for similar ones, and for no others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import parpy
from parpy.calls.objects import Reads
from parpy.host.alike import Alike
from parpy.syntax.names import source_of

pytestmark = pytest.mark.filterwarnings("ignore:.*P315:parpy.PerformanceWarning")


class Box:
    kind = 1

    def __init__(self, x: Any, **more: Any) -> None:
        self.x = x
        vars(self).update(more)


class Slots:
    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x


class Other(Box):
    kind = None


def steps(box, y):
    for i in range(y.shape[0]):
        if box.x is not None:
            y[i] += box.x * i
    box.x = 1.5


def keys(*values: Any) -> list[Any]:
    alike: Alike[Any] = Alike(texts=False)
    reads = Reads(source_of(steps))
    return [alike.key(reads, (value,)) for value in values]


def test_which_are_alike():
    first, *others = keys(Box(1.0), Box(2.0, other=[1]), Box(1), Box(None), Box(np.zeros(2)), Other(1.0))
    assert first == others[0]
    assert len({first, *others}) == 5
    texts = keys(Box("text"), Box("text"), Box("other"), Box(len))
    assert texts[0] == texts[1] and len({*texts}) == 3
    assert keys((1.0, 2), (1.5, 3)) == [*{*keys((2.5, 4))}] * 2


def test_which_are_looked_at():
    itself = SimpleNamespace(x=None)
    itself.x = itself
    assert keys(Slots(1.0), Box({1}), itself, Box(deep(9)), {str(k): k for k in range(99)}) == [None] * 5


def deep(count: int) -> Any:
    return SimpleNamespace(x=deep(count - 1)) if count else 1.0


def test_arguments_that_change_their_kind():
    made = parpy.jit(steps)
    for _ in range(2):
        for x in (2.0, 2, None, np.float32(0.5), True, Box(1)):
            want, got = np.zeros(3), np.zeros(3)
            box, other = Box(x), Box(x)
            try:
                steps(box, want)
            except TypeError:
                with pytest.raises(parpy.CompileError):
                    made(other, got)
                continue
            try:
                made(other, got)
            except parpy.CompileError as error:
                assert "P233" in error.codes and not isinstance(x, float | None)
            else:
                assert got.tolist() == want.tolist() and other.x == box.x


class Pair(NamedTuple):
    a: float
    b: float

    def both(self):
        return self.a + self.b


def test_repeated_calls_follow_changes():
    """Calls are repeated by plans. A class, a function and a global that change are noticed."""

    @parpy.jit
    def read(p, x, f):
        x[0] = p.both() + f(x[1])
        return x[0]

    x, k = np.ones(2), 3.0
    for _ in range(3):
        assert read(Pair(1.0, 2.0), x, lambda v: v * k) == 6.0
    assert [read(Pair(1.0, 2.0), x, lambda v, n=n: v * n) for n in range(3)] == [3.0, 4.0, 5.0]
    assert read(Pair(np.float64(1.0), 2), x, np.sqrt) == 4.0
    kept = Pair.both
    try:
        Pair.both = lambda self: self.a - self.b
        assert read(Pair(1.0, 2.0), x, np.sqrt) == 0.0
    finally:
        Pair.both = kept
    assert read(Pair(1.0, 2.0), x, np.sqrt) == 4.0


def test_numbers_of_repeated_calls_are_assigned():
    class Clock:
        def __init__(self):
            self.time, self.count = 0, 0

        @parpy.jit
        def run(self, n, dt):
            for _ in range(n):
                self.time += dt
                self.count += 1
            if self.time > 1.5:
                raise ValueError("late")

    first, second = Clock(), Clock()
    for _ in range(3):
        first.run(2, 0.25)
    assert (first.time, first.count, type(first.count)) == (1.5, 6, int)
    second.run(0, 0.25)
    assert second.time == 0 and type(second.time) is int
    with pytest.raises(ValueError, match="late"):
        first.run(1, 0.25)
    assert (first.time, first.count) == (1.75, 7)
    second.time = -0.0
    second.run(1, 0.0)
    assert str(second.time) == "0.0"
