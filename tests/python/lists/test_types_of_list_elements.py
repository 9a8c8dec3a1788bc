"""Elements that compiled loops read from lists, queues and dicts have Python's types: a loop in which the type of an
element matters is compiled if all elements have one type, and Python runs it otherwise."""

from __future__ import annotations

import heapq
from collections import deque

import numpy as np
import pytest

import parpy
from backends import TARGETS, compiled_throughout, options

X = np.arange(6.0)


def last_flag(n):
    flags = []
    last = False
    for i in range(n):
        flags.append(i % 2 == 0)
        last = flags[-1]
    return last, flags


def copied_flags(n):
    flags = [False, True]
    for i in range(n):
        flags.append(flags[i])
    return flags


def pairs(n):
    queue = [(0, True)]
    a = b = 0
    for _ in range(n):
        a, b = queue[-1]
        queue.append((a + 1, not b))
        queue.append((a + 1, b))
    return queue


def totals(n):
    found = {}
    for i in range(n):
        k = i % 3
        if k not in found:
            found[k] = 0
        if i > 3:
            found[k] += X[i % 6]
    return found


def added(n):
    found = {0: 1, 1: 2, 2: 3}
    for i in range(n):
        found[i % 2] += X[i % 6]
    return found


def counted(n):
    found = {}
    for i in range(n):
        found[i % 2] = found.get(i % 2, 0) + X[i % 6]
    return found


def records(n):
    best = [0]
    for i in range(n):
        if X[i % 6] > best[-1]:
            best.append(X[i % 6])
    return best


def times(n):
    found = [0]
    for _ in range(n):
        found.append(found[-1] + 0.5)
    return found


def integers(n):
    found = {}
    for i in range(n):
        found[i % 3] = found.get(i % 3, 0) + 1
    return found


def numbered_floats(n):
    queue = deque([(0, 0.5)])
    for _ in range(n):
        i, w = queue.popleft()
        queue.append((i + 1, w + 1))
        queue.append((i + 2, w * 0.5))
    return queue


def rotated(n):
    queue = [0.5]
    for i in range(n):
        queue.append(i)
        queue.append(queue.pop(0))
    return queue


def successors(n):
    queue = [1, 0.5]
    for i in range(n):
        queue.append(queue[i] + 1)
    return queue


def counts_and_a_float(n):
    found = {}
    for i in range(n):
        found[i % 2] = found.get(i % 2, 0) + 1
        found[7] = 0.5
    return found


def incremented(n):
    found = {}
    for i in range(n):
        k = i % 3
        if k not in found:
            found[k] = 0
        found[k] += 1
        if i == 5:
            found[9] = X[i % 6]
    return found


def read(n):
    found = {0: 1, 1: 2, 2: 3}
    s = 0
    for i in range(n):
        found[i % 2] = X[i % 6]
        s = found[2]
    return found, s


def of_queue(n):
    queue = deque([0.5])
    for i in range(n):
        queue.append(i)
        v = queue.popleft()
        queue.append(v)
    return queue


def collected(x):
    out = []
    for v in x:
        if v > 2:
            out.append(v * 2)
    return out, np.array(out)


def runs(x):
    values, counts = [], []
    run = 1
    for i in range(1, len(x)):
        if x[i] == x[i - 1]:
            run += 1
        else:
            values.append(x[i - 1])
            counts.append(run)
            run = 1
    values.append(x[-1])
    counts.append(run)
    return values, counts


def stack(x):
    left, out = [], []
    for v in x:
        while left and left[-1] > v:
            out.append(left.pop())
        left.append(v)
    return left, out


def by_key(x):
    found = {}
    pairs = [(0, x[0])]
    for i in range(len(x)):
        found[i % 3] = x[i]
        pairs.append((i, x[i]))
    return found, pairs


def behind_a_zero(x):
    out = [0]
    for v in x:
        out.append(v)
    return out


SMALL = [collected, runs, stack, behind_a_zero]


def chosen(n):
    found, numbers, pairs = {}, [0] * 6, []
    for i in range(n % 7):
        found[i] = i if i % 2 else X[i % 6]
        numbers[i % 6] = True if i < 1 else (X[i % 6] if i < 4 else i)
        pairs.append((i, 2) if i < 2 else (X[i % 6], 3))
        pairs.append((i, 1.5 if i < 3 else 2.5))
    return found, numbers, pairs


COMPILED = [chosen, last_flag, copied_flags, pairs, totals, added, counted, records, times, integers, numbered_floats]


def chosen_in_tuples(n):
    pairs = []
    for i in range(n):
        pairs.append((i, X[i % 6] if i < 3 else 1))
    return pairs


BY_PYTHON = [rotated, successors, counts_and_a_float, incremented, read, of_queue]


def kinds(value):
    """The numbers in the value, each with the class that Python has for it."""
    if isinstance(value, dict):
        return [(key, kinds(each)) for key, each in value.items()]
    if isinstance(value, list | tuple | deque):
        return [kinds(each) for each in value]
    classes = {np.float64: float, np.int64: int, np.bool_: bool}
    return classes.get(type(value), type(value)), value


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("function", COMPILED)
def test_compiled(backend, function):
    with compiled_throughout():
        compiled = parpy.jit(function)
        for n in (7, 1, 0):
            assert kinds(compiled(n, opts=options(backend, {}))) == kinds(function(n))


@pytest.mark.parametrize("function", BY_PYTHON)
def test_elements_of_several_types(function):
    compiled = parpy.jit(function)
    with pytest.warns(parpy.PerformanceWarning, match="has elements of several types"):
        assert kinds(compiled(7)) == kinds(function(7))
    for n in (7, 2):
        assert kinds(compiled(n)) == kinds(function(n))


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("function", SMALL)
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32, np.float32])
def test_small_types(backend, function, dtype):
    x = np.array([3, 1, 4, 1, 1, 9, 100, 6, 5]).astype(dtype)
    compiled = parpy.jit(function)
    with compiled_throughout():
        for _ in range(2):
            with np.errstate(over="ignore"):
                want = function(x)
            assert str(compiled(x, opts=options(backend, {}))) == str(want)


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.float32, np.uint64, np.float16])
def test_small_types_beside_others(dtype):
    """Python runs the loop if elements of one list have several types, or types that the memory does not hold."""

    def alternating(x):
        out = []
        for i, v in enumerate(x):
            if i % 2:
                out.append(v)
            else:
                out.append(i)
        return out

    def successors(x):
        out = []
        for v in x:
            out.append(v)
            out.append(out[-1] + 1)
        return out

    x = np.array([3, 1, 4, 1, 5]).astype(dtype)
    for function in (alternating, successors, by_key, *SMALL):
        assert str(parpy.jit(function)(x)) == str(function(x))


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
def test_choices_in_tuples():
    assert kinds(parpy.jit(chosen_in_tuples)(7)) == kinds(chosen_in_tuples(7))


def elements_and_places(x, n):
    out = []
    for i in range(n):
        out.append((x[i], i))
    return out


def heap_of_elements_and_places(x, n):
    heap = []
    for i in range(n):
        if i % 2:
            heapq.heappush(heap, x[i])
        else:
            heapq.heappush(heap, i)
    return heap


@pytest.mark.parametrize("function", [elements_and_places, heap_of_elements_and_places])
@pytest.mark.parametrize("kind", [list, np.array])
def test_later_lists_of_another_type(function, kind):
    """Nothing of a loop has run when compiled code refuses it for the types of the first attempt."""
    compiled = parpy.jit(function)
    for x in ([3, 4], [1.5, -2.0], [5, -6]):
        for n in (2, 1):
            assert plain(compiled(kind(x), n)) == plain(function(kind(x), n))
        if kind is list:
            assert kinds(compiled(x, 2)) == kinds(function(x, 2))


def plain(values):
    """The elements as Python's numbers, which those of NumPy equal."""
    return [tuple(map(float, each)) if isinstance(each, tuple) else float(each) for each in values]


def added_keys(x):
    found, total = {}, x[0]
    for i in range(len(x)):
        found[i] = i
    for key in found:
        total = total + key
    return total


def added_elements(x, values):
    total = x[0]
    values.append(len(x))
    for i in range(len(x)):
        values.append(i)
        total = total + values[-2]
    return total


def added_in_each_iteration(x, values):
    found = []
    for i in range(len(x)):
        values.append(i)
        total = x[0]
        total = total + values[-1]
        found.append(total)
    return found


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float32, np.float64, np.int64])
def test_elements_are_weak_beside_totals(dtype):
    """Python's integers from a list become numbers of the type of a total that comes from an array."""
    x = np.array([250, 3, 100, 7]).astype(dtype)
    with np.errstate(over="ignore"):
        assert str(parpy.jit(added_keys)(x)) == str(added_keys(x))
        for function in (added_elements, added_in_each_iteration):
            got, want = parpy.jit(function)(x, [200, 50]), function(x, [200, 50])
            assert np.array_equal(got, want)
            assert np.result_type(*np.atleast_1d(got)) == np.result_type(*np.atleast_1d(want))
