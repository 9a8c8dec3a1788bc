"""Arguments that are one array, with stores under names of the function: through parts of tuples and objects, methods,
nested functions, loops over arrays, and views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parpy
from backends import BACKENDS


class Pair:
    def __init__(self, x: np.ndarray) -> None:
        self.x, self.count = x, 0

    def add(self, v):
        self.x[0] += v

    @property
    def first(self):
        return self.x[0]


def add(pair, v):
    pair.add(v)


def first_row(x):
    return x[0]


def of_method(p, y, out):
    p.add(1.0)
    out[0] = y[0]
    p.add(1.0)
    out[1] = y[0] + p.first


def of_function(p, y, out):
    add(p, 1.0)
    out[0] = y[0]
    add(p, 1.0)
    out[1] = y[0]


def of_attribute(p, y, out):
    row = p.x
    row[0] += 1
    out[0] = y[0]
    row[0] += 1
    out[1] = y[0]


def of_method_as_value(p, y, out):
    bump = p.add
    bump(1.0)
    out[0] = y[0]
    bump(1.0)
    out[1] = y[0]


def of_object_in_tuple(p, y, out):
    t = (p, 1.0)
    t[0].add(t[1])
    out[0] = y[0]
    t[0].x[0] += t[1]
    out[1] = y[0]


def of_nested_function(p, y, out):
    def bump(v):
        p.x[0] += v

    bump(1.0)
    out[0] = y[0]
    bump(1.0)
    out[1] = y[0]


def of_real_part(p, y, out):
    v = p.x.real
    v[0] += 1
    out[0] = y[0]
    v[0] += 1
    out[1] = y[0]


OBJECTS = [
    of_method, of_function, of_attribute, of_method_as_value, of_object_in_tuple, of_nested_function, of_real_part
]  # fmt: skip


def run(backend: str, function: Callable[..., Any], *arguments: Any) -> None:
    if backend == "eval":
        options = parpy.CompileOptions(backend=parpy.CompileBackend.Cpu)
        parpy.calls.jit.interpret(function, arguments, options)
    else:
        function(*arguments, opts=parpy.auto(backend=parpy.CompileBackend(backend)))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", OBJECTS)
def test_arrays_of_objects(backend, function):
    compiled = parpy.jit(function)
    for shared in (True, False, True):
        results = []
        for each in (function, compiled):
            p, out = Pair(np.arange(4.0)), np.zeros(2)
            y = p.x if shared else np.arange(4.0)
            if each is function:
                each(p, y, out)
            else:
                run(backend, each, p, y, out)
            results.append([p.x.tolist(), y.tolist(), out.tolist()])
        assert results[0] == results[1]


def two_objects(p, q, out):
    p.add(1.0)
    q.add(2.0)
    out[0] = p.x[0] - q.x[0]
    p.x[0] += q.first
    out[1] = p.first - q.first


@pytest.mark.parametrize("backend", BACKENDS)
def test_one_object_twice(backend):
    compiled = parpy.jit(two_objects)
    for same in (True, False, True):
        results = []
        for each in (two_objects, compiled):
            p, out = Pair(np.arange(4.0)), np.zeros(2)
            q = p if same else Pair(np.arange(4.0))
            if each is two_objects:
                each(p, q, out)
            else:
                run(backend, each, p, q, out)
            results.append([p.x.tolist(), q.x.tolist(), out.tolist()])
        assert results[0] == results[1]


def of_rows(x, y, out):
    for row in x:
        row[0] += 1
        out[0] += y[0, 0]
        row[0] += 1
        out[1] += y[0, 0]


def of_enumerated_rows(x, y, out):
    for i, row in enumerate(x):
        row[0] += i + 1
        out[0] += y[0, 0]
        row[0] += 1
        out[1] += y[0, 0]


def of_tuple_of_arrays(x, y, out):
    for t in (x, x):
        t[0, 0] += 1
        out[0] += y[0, 0]
        t[0, 0] += 1
        out[1] += y[0, 0]


def of_new_axis(x, y, out):
    t = x[:, None]
    t[0, 0, 0] += 1
    out[0] = y[0, 0]
    t[0, 0, 0] += 1
    out[1] = y[0, 0]


def of_whole_update(x, y, out):
    t = x
    t += 1
    out[0] = y[0, 0]
    t += 1
    out[1] = y[0, 0]


def of_swapped_names(x, y, out):
    a, b = x, y
    a, b = b, a
    b[0, 0] += 1
    out[0] = a[0, 0]
    b[0, 0] += 1
    out[1] = a[0, 0]


def of_chosen(x, y, out):
    v = x if out[0] == 0 else y
    v[0, 0] += 1
    out[0] = y[0, 0]
    v[0, 0] += 1
    out[1] = y[0, 0]


def of_result(x, y, out):
    t = first_row(x)
    t[0] += 1
    out[0] = y[0, 0]
    t[0] += 1
    out[1] = y[0, 0]


def of_output(x, y, out):
    np.add(x, 1.0, out=x)
    out[0] = y[0, 0]
    x.fill(3.0)
    out[1] = y[0, 0]


ARRAYS = [
    of_rows, of_enumerated_rows, of_tuple_of_arrays, of_new_axis, of_whole_update, of_result, of_output, of_chosen,
    of_swapped_names,
]  # fmt: skip
BY_PYTHON = of_chosen, of_swapped_names  # Python runs a part, which the interpreter of the IR cannot


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", ARRAYS)
def test_names_of_arrays(backend, function):
    if backend == "eval" and function in BY_PYTHON:
        return
    compiled = parpy.jit(function)
    for shared in (True, False, True):
        results = []
        for each in (function, compiled):
            x, out = np.arange(9.0).reshape(3, 3), np.zeros(2)
            y = x if shared else np.arange(9.0).reshape(3, 3)
            if each is function:
                each(x, y, out)
            else:
                run(backend, each, x, y, out)
            results.append([x.tolist(), y.tolist(), out.tolist()])
        assert results[0] == results[1]
