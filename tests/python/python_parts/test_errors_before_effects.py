"""Code that cannot be compiled is reported before Python runs any statement, also if that code keeps attributes of
objects."""

from __future__ import annotations

import math

import numpy as np
import pytest

import parpy
from backends import TARGETS

pytestmark = pytest.mark.filterwarnings("ignore:.*P315:parpy.PerformanceWarning")


class Log:
    def __init__(self) -> None:
        self.items, self.n = [], 0

    def add(self, k):
        self.items.append(k)
        for i in range(k):
            self.n += i

    def add_wrong(self, k):
        self.items.append(k)
        for i in range(k):
            self.n += unknown * i  # noqa: F821


def unknown_names(log, x):
    log.items.append(1)
    x[0] = 5.0
    for i in range(len(x)):
        x[i] += unknown(i)  # noqa: F821
    log.items.append(2)
    for i in range(len(x)):
        x[i] = math.squareroot(x[i])
    return missing  # noqa: F821


def statements(log, x):
    log.items.append(1)
    x[0] = 5.0
    for i in range(len(x)):

        class Late:
            pass

        x[i] = 1.0


def expressions(log, x):
    log.add(3)
    x[0] = 5.0
    log.items.append(1)
    for i in range(len(x)):
        x[i] = (lambda *given: i)(i)


def in_methods(log, x):
    log.add(3)
    x[0] = 5.0
    log.add_wrong(3)


@pytest.mark.parametrize(
    ("function", "codes"),
    [
        (unknown_names, ("P101", "P101", "P107")),
        (statements, ("P010",)),
        (expressions, ("P011",)),
        (in_methods, ("P101",)),
    ],
)
def test_nothing_has_run(function, codes):
    log, x = Log(), np.zeros(3)
    for _ in range(2):
        with pytest.raises(parpy.CompileError) as caught:
            parpy.jit(function)(log, x)
        assert tuple(sorted(caught.value.codes)) == codes
        assert (log.items, log.n, x.tolist()) == ([], 0, [0, 0, 0])


class Other(Log):
    def add_wrong(self, k):
        self.items.append(k)


def chooses(logs, x, k):
    logs[0].add(k)
    if k < 0:
        logs[1].add_wrong(k)
    x[0] = k


def test_what_one_of_several_methods_may_do():
    logs, x = (Other(), Log()), np.zeros(1)
    parpy.jit(chooses)(logs, x, 2)
    assert (logs[0].items, logs[0].n, x[0]) == ([2], 1, 2)


def mapped_twice(a, b, k):
    for i in range(1, len(a)):
        scaled = (lambda z: z * 0.5) if k > 100 else abs
        a[i] = scaled(a[i]) + len(sorted(b))
    parpy.label("second")
    for j in range(k):
        b[0] += b[j]


def mapped_behind_a_statement(a, b, k):
    b[:] = sorted(b)
    parpy.label("second")
    for j in range(1, k):
        a[j] = a[j - 1] + 1


def mapped_behind_a_return(a, b, k):
    b[:] = sorted(b)
    if k < 5:
        return
    parpy.label("second")
    for j in range(1, k):
        a[j] = a[j - 1] + 1


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("function", [mapped_twice, mapped_behind_a_statement])
def test_refused_mappings(backend, function):
    opts = parpy.CompileOptions(
        parallelize={"second": parpy.threads(4)}, backend=parpy.CompileBackend(backend), legality="strict"
    )
    compiled = parpy.jit(function)
    for k in (3, 4, 3, 5, 6):
        a, b = np.arange(6.0), np.arange(6.0)[::-1].copy()
        with pytest.raises(parpy.ParallelError):
            compiled(a, b, k, opts=opts)
        assert a.tolist() == [0, 1, 2, 3, 4, 5]
        assert b.tolist() == [5, 4, 3, 2, 1, 0]


@pytest.mark.parametrize("backend", TARGETS)
def test_mapped_loops_that_are_not_reached(backend):
    opts = parpy.CompileOptions(parallelize={"second": parpy.threads(4)}, backend=parpy.CompileBackend(backend))
    a, b = np.arange(6.0), np.arange(6.0)[::-1].copy()
    parpy.jit(mapped_behind_a_return)(a, b, 3, opts=opts)
    assert (a.tolist(), b.tolist()) == ([0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5])
