"""Code that cannot be compiled is reported before Python runs any statement, also if that code keeps attributes of
objects."""

from __future__ import annotations

import math

import numpy as np
import pytest

import parpy

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
