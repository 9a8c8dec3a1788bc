"""Loops in which queues (collections.deque) of numbers grow and shrink are compiled."""

from __future__ import annotations

import collections
import copy
import warnings
from collections import deque

import numpy as np
import pytest

import parpy
from backends import TARGETS, compiled_throughout, options
from results import same

GRID = np.random.default_rng(4).random((9, 11)) > 0.3
X = np.array([0.5, 2.0, -1.0, 3.5, 0.25, 3.5, -2.0, 1.0])


def distances(grid):
    rows, columns = grid.shape
    found = np.full((rows, columns), -1)
    queue = deque([(0, 0)])
    found[0, 0] = 0
    while queue:
        i, j = queue.popleft()
        for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            a, b = i + di, j + dj
            if 0 <= a < rows and 0 <= b < columns and grid[a, b] and found[a, b] < 0:
                found[a, b] = found[i, j] + 1
                queue.append((a, b))
    return found


def sliding_maxima(x):
    width = 3
    best = deque()
    out = np.empty(len(x) - width + 1)
    for i, v in enumerate(x):
        while best and x[best[-1]] <= v:
            best.pop()
        best.append(i)
        if best[0] <= i - width:
            best.popleft()
        if i >= width - 1:
            out[i - width + 1] = x[best[0]]
    return out, best


def of_floats(n):
    last = deque()
    for i in range(n):
        last.append(i * 0.5)
        if len(last) > 4:
            last.popleft()
    return list(last), last[0], last


def made_in_loop(n):
    total = 0
    for i in range(n):
        queue = deque([i, i + 1])
        while queue:
            v = queue.pop()
            total += v
            if v < 5:
                queue.append(v + 3)
    return total


def of_module(n):
    queue = collections.deque([(0, 0.5)])
    steps = 0
    while len(queue) > 0 and steps < 20:
        i, w = queue.popleft()
        if i < n:
            queue.append((i + 1, w * 0.5))
            queue.append((i + 2, w + 1))
        steps += 1
    return queue, steps


def walked(n):
    queue = deque([1, 2, 3])
    total = 0
    for i in range(n):
        for v in queue:
            total += v
        queue.append(total)
        queue[0] = i
    return total, queue


def by_two_names(n):
    queue = deque([1, 2])
    other = queue
    for i in range(n):
        queue.append(i)
        queue.popleft()
    return queue, other, queue is other


COMPILED = [
    (distances, GRID), (sliding_maxima, X), (of_floats, 9), (of_floats, 2), (made_in_loop, 6), (of_module, 5),
    (walked, 3),
]  # fmt: skip


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize(("function", "given"), COMPILED)
def test_compiled(backend, function, given):
    with compiled_throughout():
        compiled = parpy.jit(function)
        for _ in range(2):
            assert same(as_lists(compiled(copy.copy(given), opts=options(backend, {}))), as_lists(function(given)))


def as_lists(value):
    """The value with ("queue", …) in place of queues."""
    if isinstance(value, deque):
        return "queue", *value
    return tuple(map(as_lists, value)) if isinstance(value, tuple) else value


def test_arguments_change_in_place():
    @parpy.jit
    def emptied(queue, n):
        v = 0
        while queue:
            v = queue.popleft()
            if v < 8:
                queue.append(v + n)
        return v

    given, other = deque([3, 4]), deque([3, 4])
    with warnings.catch_warnings():
        warnings.simplefilter("error", parpy.PerformanceWarning)
        assert emptied(given, 3) == emptied.__wrapped__(other, 3)
    assert given == other == deque()


def test_two_names_of_one_queue():
    assert as_lists(parpy.jit(by_two_names)(3)) == as_lists(by_two_names(3))


def test_python_keeps_the_length_of_limited_queues():
    def limited(n):
        queue = deque(maxlen=3)
        for i in range(n):
            queue.append(i)
            if len(queue) > 2 and queue[0] % 2:
                queue.popleft()
        return queue

    with pytest.warns(parpy.PerformanceWarning, match="'queue' is of type 'deque'"):
        got = parpy.jit(limited)(7)
    assert got == limited(7)
    assert got.maxlen == 3


def test_an_empty_queue():
    def exhausted(n):
        queue = deque([1])
        for _ in range(n):
            queue.popleft()
        return queue

    with pytest.raises(IndexError):
        parpy.jit(exhausted)(2)
