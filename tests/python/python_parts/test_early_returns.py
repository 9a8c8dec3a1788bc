"""Loops that a function leaves by `return` are compiled, also if Python runs other parts of the function."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import parpy
from backends import TARGETS, compiled_throughout, copies, options

A = np.array([[2.0, 1.0], [1.0, 3.0]])
X = np.arange(6.0)
WHOLE = np.random.default_rng(3).integers(0, 100, 50)


def first_negative(a, b):
    solution = np.linalg.solve(a, b)
    for i in range(len(solution)):
        if solution[i] < 0:
            return i
    return -1


def second_place(a, v):
    found = []
    for i in range(len(a)):
        if a[i] == v:
            found.append(i)
        if len(found) > 1:
            return found[0]
    return None


def two_sum(a, target):
    seen = {}
    for i, v in enumerate(a):
        if target - v in seen:
            return seen[target - v], i
        seen[v] = i
    return None


def converged(a, x, tol):
    w, _ = np.linalg.eigh(a)
    x, old, size = x.copy(), 0.0, 0.0
    for it in range(40):
        y = a @ x
        size = math.sqrt((y * y).sum())
        for j in range(len(x)):
            x[j] = y[j] / size
        if abs(size - old) <= tol:
            return size, it + 1
        old = size
    return size, w[0]


def nested(x, v):
    name = f"v{v}"
    k = 0
    while k < 10:
        for j in range(3):
            if k * j == v:
                return k, j, 0.5
            if k > 8:
                return
        k += 1
    return name


def several_types(x, v):
    name = f"v{v}"
    for i in range(len(x)):
        if x[i] == v and v == 2:
            return x[i]
        if x[i] == v and v == 3:
            return i
        if x[i] == v and v == 4:
            return x[i] < 3
        if x[i] == v:
            return i, (x[i], -i)
    return name


def new_array(x, v):
    name = f"v{v}"
    y = x * 1
    for i in range(len(x)):
        y = x[i:] * 2
        if x[i] == v:
            return y
    return name, y


def after_else(x, v):
    name = f"v{v}"
    for i in range(len(x)):
        if x[i] == v:
            return x[i], i
    else:
        i = -1
    return name, i


def with_effects(x, v):
    name = f"v{v}"
    for i in range(len(x)):
        x[i] += 1
        if x[i] == v:
            k = i * 2
            return k == 6
    return name, x


def over_elements(x, v):
    name = f"v{v}"
    for i, each in enumerate(x):
        if each > v:
            return each, i
    return name


CASES = [
    (first_negative, (A, np.ones(2))), (first_negative, (A, -np.ones(2))), (second_place, (WHOLE % 4, 2)),
    (second_place, (WHOLE % 4, 7)), (two_sum, (WHOLE, 7)), (two_sum, (WHOLE, 1000)), (converged, (A, X[1:3], 1e-8)),
    (converged, (A, X[1:3], 0.0)), (nested, (X, 6)), (nested, (X, 100)), (several_types, (X, 2)),
    (several_types, (X, 3)), (several_types, (X, 4)), (several_types, (X, 5)), (several_types, (X, 9)),
    (after_else, (X, 3)), (after_else, (X, 9)), (with_effects, (X, 3)),
    (with_effects, (X, 99)), (over_elements, (X, 3)), (over_elements, (X.astype(np.int32), 3)),
    (over_elements, (X, 9)),
]  # fmt: skip


def shown(value):
    """The value as a text with the types of its numbers."""
    if isinstance(value, tuple):
        return [shown(each) for each in value]
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tolist()
    if isinstance(value, float):
        return float, round(float(value), 9)
    return {np.int64: int, np.bool_: bool}.get(type(value), type(value)), value


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize(("function", "given"), CASES)
def test_early_returns(backend, function, given):
    compiled = parpy.jit(function)
    with compiled_throughout():
        for _ in range(2):
            ours, theirs = copies(given), copies(given)
            assert shown(compiled(*ours, opts=options(backend, {}))) == shown(function(*theirs))
            assert all(map(np.array_equal, ours, theirs))


@pytest.mark.parametrize("v", [3, 9])
def test_new_arrays(v):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", parpy.PerformanceWarning)
        assert shown(parpy.jit(new_array)(X, v)) == shown(new_array(X, v))


def test_rows_are_parts_of_the_argument():
    """Python runs these loops, because compiled code would return copies."""

    def row(x, v):
        name = f"v{v}"
        for i in range(len(x)):
            if x[i, 0] > v:
                return x[i], x[i, 1]
        return name

    def each(x, v):
        name = f"v{v}"
        for line in x:
            if line[0] > v:
                return line
        return name

    def whole(x, v):
        name = f"v{v}"
        for i in range(len(x)):
            if x[i, 0] > v:
                return x
        return name

    def element(x, v):
        name = f"v{v}"
        for i in range(len(x)):
            if i > v:
                return x[i]
        return name

    x = np.arange(8.0).reshape(4, 2)
    for function in (row, each, whole, element):
        compiled = parpy.jit(function)
        for _ in range(2):
            found, want = compiled(x, 1), function(x, 1)
            part = found[0] if isinstance(found, tuple) else found
            assert shown(found) == shown(want)
            assert np.shares_memory(part, x)
        assert compiled(x, 99) == "v99"


def test_lists_keep_what_was_added_before_the_return():
    def logged(x, log):
        for i in range(len(x)):
            log.append(i)
            if x[i] > 3:
                return i * 0.5
        return log

    ours, theirs = [7], [7]
    assert parpy.jit(logged)(X, ours) == logged(X, theirs)
    assert ours == theirs == [7, 0, 1, 2, 3, 4]


def test_captured_variables_keep_their_values():
    def scaled(x):
        out = []
        scale = 2.0

        def times(t):
            return t * scale

        for i in range(len(x)):
            scale += 1
            out.append(times(x[i]))
        return out, times(1.0)

    assert parpy.jit(scaled)(X) == scaled(X)
