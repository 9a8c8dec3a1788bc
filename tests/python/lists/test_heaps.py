"""Loops with functions of heapq are compiled, and give the lists and numbers of Python's heapq."""

from __future__ import annotations

import heapq
import warnings
from heapq import heappop, heappush

import numpy as np
import pytest

import parpy

OPTIONS = [parpy.auto(backend=parpy.CompileBackend.Cpu), parpy.auto(backend=parpy.CompileBackend.Sim)]


def distances(begins, ends, weights, source):
    distance = np.full(len(begins) - 1, np.inf)
    before = np.full(len(begins) - 1, -1)
    distance[source] = 0
    heap = [(0, source)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > distance[u]:
            continue
        for e in range(begins[u], begins[u + 1]):
            v = ends[e]
            if d + weights[e] < distance[v]:
                distance[v] = d + weights[e]
                before[v] = u
                heapq.heappush(heap, (distance[v], v))
    return distance, before


def heap_sorted(x):
    h = []
    for v in x:
        heappush(h, v)
    kept = list(h)
    out = np.empty(len(x))
    for i in range(len(x)):
        out[i] = heappop(h)
    return out, kept, h


def largest(x, k):
    h = []
    for i in range(len(x)):
        if len(h) < k:
            heapq.heappush(h, (x[i], i, -i))
        elif x[i] > h[0][0]:
            heapq.heappop(h)
            heapq.heappush(h, (x[i], i, -i))
    return h


def heapified(x):
    h = []
    for i in range(3):
        for v in x:
            h.append(v * (i + 1) % 7)
        heapq.heapify(h)
        heapq.heappush(h, 3 if i == 1 else 5)
    return h


def running_median(x):
    low, high = [], []
    out = np.empty(len(x))
    for i in range(len(x)):
        heappush(low, -x[i])
        heappush(high, -heappop(low))
        if len(high) > len(low):
            heappush(low, -heappop(high))
        out[i] = -low[0] if len(low) > len(high) else (high[0] - low[0]) / 2
    return out


def graph() -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(1)
    begins = np.concatenate([[0], np.cumsum(rng.integers(0, 6, 60))])
    ends = rng.integers(0, 60, begins[-1])
    return begins, ends, rng.integers(1, 9, begins[-1]) / 4


RNG = np.random.default_rng(2)
NUMBERS = [
    RNG.integers(0, 9, 50),
    RNG.random(51),
    RNG.integers(0, 9, 40).astype(float),
    np.array([2.0, np.nan, 1.0, np.nan, 0.0, np.inf, -np.inf]),
    np.array([5]),
    np.zeros(0),
    np.array([2**62, 2**62 - 1, 2**62 + 1, -(2**62)]),
]


def plain(value):
    if isinstance(value, np.ndarray):
        return value.dtype.name, [repr(each) for each in value.tolist()]
    if isinstance(value, list | tuple):
        return type(value).__name__, [plain(each) for each in value]
    return repr(value.item() if isinstance(value, np.generic) else value)


@pytest.mark.parametrize("opts", OPTIONS, ids=["cpu", "sim"])
def test_shortest_paths(opts):
    begins, ends, weights = graph()
    for source in (0, 7):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            got = parpy.jit(distances)(begins, ends, weights, source, opts=opts)
        assert plain(got) == plain(distances(begins, ends, weights, source))


@pytest.mark.parametrize("opts", OPTIONS, ids=["cpu", "sim"])
@pytest.mark.parametrize("x", NUMBERS, ids=range(len(NUMBERS)))
def test_heaps_are_pythons(x, opts):
    for function, arguments in ((heap_sorted, (x,)), (largest, (x, 4)), (heapified, (x,)), (running_median, (x,))):
        if function is heapified and not np.isfinite(x).all():
            continue  # Python warns of the remainder
        assert plain(parpy.jit(function)(*arguments, opts=opts)) == plain(function(*arguments)), function.__name__


def pops_too_often(n):
    h = []
    for i in range(n):
        heapq.heappush(h, i)
        heapq.heappop(h)
        heapq.heappop(h)
    return h


def test_an_empty_heap():
    with pytest.raises(IndexError, match="index out of range"):
        parpy.jit(pops_too_often)(2)
    assert parpy.jit(pops_too_often)(0) == []


def drops_pairs(x):
    stack = []
    for i in range(len(x)):
        stack.append((x[i], i))
        if len(stack) > 3:
            stack.pop()
    return stack


@pytest.mark.parametrize("opts", OPTIONS, ids=["cpu", "sim"])
def test_a_tuple_that_is_removed_and_not_used(opts):
    x = np.arange(6.0)
    assert plain(parpy.jit(drops_pairs)(x, opts=opts)) == plain(drops_pairs(x))


def test_another_function_with_that_name(monkeypatch):
    def pushed(x):
        h = []
        for v in x:
            heappush(h, v)
        return h

    compiled, x = parpy.jit(pushed), np.array([3.0, 1.0, 2.0])
    assert compiled(x) == [1.0, 3.0, 2.0]
    monkeypatch.setitem(globals(), "heappush", lambda h, v: h.append(-v))
    assert compiled(x) == [-3.0, -1.0, -2.0]
