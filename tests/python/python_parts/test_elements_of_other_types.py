"""Loops in which lists grow beside NumPy's small integers: Python's integers are weak beside these."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, compiled_throughout, options
from results import same


def running_sums(x, _):
    found = [0]
    for i in range(len(x)):
        found.append(x[i] + found[i])
    return found


def sums_by_label(x, labels):
    sums = {}
    for i in range(len(x)):
        k = labels[i]
        sums[k] = sums.get(k, 0) + x[i]
    return sums


def through_names(x, _):
    queue = [1]
    total = 0
    for i in range(len(x)):
        v = queue.pop()
        w = v + 2
        total = total + x[i] * w
        queue.append(w)
    return total, queue


def halves(x, _):
    found = []
    for v in x:
        found.append(v * 2)
        found.append(v)
    return found


LABELS = np.array([0, 1, 0, 0, 1])
VALUES = [200, 100, 70, 90, 60]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("function", [running_sums, sums_by_label, through_names, halves])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint64", "int64", "float32", "float64"])
def test_results_have_the_values_and_types_of_python(backend, function, dtype):
    for x in (np.array(VALUES, dtype), np.array([], dtype)):
        want = function(x, LABELS)
        got = parpy.jit(function)(x, LABELS, opts=options(backend, {}))
        assert same(got, want)
        parts = [list(each.values()) if isinstance(each, dict) else each for each in (got, want)]
        flat = [np.array(each[1] if isinstance(each, tuple) else each) for each in parts]
        assert flat[0].dtype == flat[1].dtype


def flooded(image):
    n, m = image.shape
    seen = np.zeros((n, m), np.uint8)
    stack, count = [(0, 0)], 0
    while stack:
        i, j = stack.pop()
        if seen[i, j] or image[i, j] == 0:
            continue
        seen[i, j] = 1
        count += 1
        for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            ni, nj = i + di, j + dj
            if 0 <= ni < n and 0 <= nj < m:
                stack.append((ni, nj))
    return count


def distances(starts, neighbours, found):
    queue = [0]
    found[0] = 0
    while len(queue) > 0:
        u = queue.pop(0)
        for k in range(starts[u], starts[u + 1]):
            v = neighbours[k]
            if found[v] < 0:
                found[v] = found[u] + 1
                queue.append(v)
    return found


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (flooded, (np.arange(36).reshape(6, 6) % 5 > 0,)),
        (flooded, ((np.arange(36).reshape(6, 6) % 5 > 0).astype(np.uint8),)),
        (distances, (np.array([0, 2, 3, 4]), np.array([1, 2, 0, 0]), np.full(3, -1, np.int8))),
    ],
)
def test_subscripts_from_lists_are_compiled_beside_small_integers(function, given):
    want = function(*(each.copy() for each in given))
    with compiled_throughout():
        assert same(parpy.jit(function)(*given), want)
