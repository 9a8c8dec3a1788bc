"""Else branches of loops and `in`, against Python."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import BACKENDS, copies, run
from parpy.frontend.parse import parse


def where_found(x, out, n):
    parpy.label("N")
    for r in range(x.shape[0]):
        for i in range(n):
            if x[r, i] == 3:
                out[r] = i
                break
        else:
            out[r] = -1


def without_break(x, out, n):
    parpy.label("N")
    for r in range(x.shape[0]):
        out[r] = x[r, 0]
        for i in range(n):
            if i % 2:
                continue
            out[r] += i
        else:
            out[r] *= 2
    else:
        with parpy.gpu:
            out[0] -= 5


def of_while(x, out, n):
    i, k = 0, 0
    while i < n:
        if x[0, i] == 9:
            break
        if x[0, i] % 2:
            i += 2
            continue
        i += 1
    else:
        k = 100
    out[0] = i + k
    while k < 5 and x[1, k] != 0:
        k += 1
    else:
        out[1] = k
    while True:
        k += 1
        if k > 7:
            break
    else:
        out[1] = -1


def nested(x, out, n):
    count = 0
    for r in range(x.shape[0]):
        for i in range(n):
            if x[r, i] == 3:
                break
        else:
            if r > 1:
                break
            count += 10
            continue
        count += 1
    else:
        count += 1000
    out[0] = count
    for v in x[0]:
        for w in x[1]:
            if v == w:
                break
        else:
            continue
        out[1] = v
        break
    else:
        out[1] = -1


def returns(x, out, n):
    for r in range(x.shape[0]):
        for i in range(n):
            if x[r, i] == 7:
                out[0] = r
                return
            if x[r, i] == 3:
                break
        else:
            out[1] = r
            return
    else:
        out[2] = 1
    out[3] = 1


def only_in_else(x, out, n):
    for i in range(n):
        last = x[0, i]
        for _ in range(2):
            break
        else:
            out[1] = 1
    else:
        last = -1
        while True:
            out[2] += 1
            if out[2] > 3:
                break
    out[0] = last


ELSE = [where_found, without_break, of_while, nested, returns, only_in_else]
ROWS = {
    "first": [[3, 1, 2, 4], [3, 3, 3, 3], [3, 0, 0, 0], [3, 9, 9, 9]],
    "last": [[1, 1, 2, 3], [0, 0, 0, 3], [4, 4, 4, 3], [9, 9, 9, 3]],
    "none": [[1, 1, 2, 4], [5, 5, 5, 5], [6, 6, 7, 6], [2, 2, 2, 2]],
    "some": [[1, 9, 3, 4], [0, 3, 1, 3], [1, 1, 1, 1], [2, 7, 2, 2]],
}


@pytest.mark.parametrize("n", [4, 1, 0])
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("function", ELSE, ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", BACKENDS)
def test_else_branches(backend, function, rows, n):
    given = np.array(ROWS[rows]), np.zeros(4, int), n
    for mapping in [{}, {"N": 4}] if function in (where_found, without_break) else [{}]:
        want, got = copies(given), copies(given)
        function(*want)
        run(backend, parpy.jit(function), got, mapping)
        assert got[1].tolist() == want[1].tolist()


def scaled(x):
    for i in range(x.shape[0]):
        x[i] *= 2
    else:
        x[0] = 7


def test_a_loop_without_break_runs_in_parallel():
    x = np.ones(100_000)
    assert "parpy_parallel_for" in parpy.print_compiled(parpy.jit(scaled), (x,))
    assert "left_by_break" not in parse(parpy.jit(scaled)).module.text()


@parpy.jit
def place(x, v):
    for i in range(x.shape[0]):
        if x[i] == v:
            k = i
            break
    else:
        return -1.0
    return k * 10.0


def test_in_functions_that_are_called():
    def places(x, out):
        for v in range(4):
            out[v] = place(x, v)

    out = np.zeros(4)
    parpy.jit(places)(np.array([2, 0, 2, 3]), out)
    assert out.tolist() == [10, -1, 0, 30]


def test_what_an_else_branch_reads_lives_beside_what_python_runs():
    def made(n, k):
        a = 1.0
        for i in range(n):
            x = np.zeros(n)
            for j in range(3):
                if j == k:
                    break
            else:
                x[1] = a
            a = a + 1
            x[0] = i
        return x

    for k in (1, 5):
        assert parpy.jit(made)(3, k).tolist() == made(3, k).tolist()


NUMBERS = (1, -2.5, 7)
EMPTY = ()


def in_literals(x, out, n):
    for i in range(x.shape[0]):
        out[i] = (x[i] in (1, 2, n)) + 2 * (x[i] not in [3, -0.5]) + 4 * (n in (x[i], 1.0))
        if x[i] in (1, 2) or x[i] in {n, 0.0}:
            out[i] += 100
        out[i] += 1000 * ((x[i] in NUMBERS) + (x[i] in (*NUMBERS, 2)))


def in_arrays(x, out, n):
    out[0] = (n in x) + (1 in x) + 10 * (2 not in x)
    out[1] = (n in x[1:]) + 2 * (n in EMPTY)
    out[2] = 2.0 in x * 2
    k = 0
    while k in x and k not in (3, n):
        k += 1
    out[3] = k if -0.5 in x else -k


def step(out):
    out[0] += 1
    return out[0]


def each_once(x, out, n):
    out[1] = step(out) in (2, n, 1)
    out[2] = step(out) in x


@pytest.mark.parametrize("items", [[1, 2, 3, -0.5], [0, 1, 2, 7], [np.nan, 1, 0, np.inf], [5, -2.5, 4, 3]])
@pytest.mark.parametrize("function", [in_literals, in_arrays, each_once], ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", BACKENDS)
def test_in(backend, function, items, monkeypatch):
    monkeypatch.setitem(globals(), "step", step if function is not each_once else parpy.jit(step))
    for dtype in (np.float64, np.float32):
        given = np.array(items, dtype), np.zeros(4), 2
        want, got = copies(given), copies(given)
        function(*want)
        run(backend, parpy.jit(function), got, {})
        assert got[1].tolist() == want[1].tolist()


@pytest.mark.parametrize("backend", BACKENDS)
def test_in_arrays_of_other_kinds(backend):
    def found(b, m, e, z, out):
        out[0] = (True in b) + (3 in m) + (1 in e) + (1 + 2j in z) + (300 in b)

    given = np.zeros(3, bool), np.arange(6, dtype=np.int8).reshape(2, 3), np.zeros(0), np.array([1 + 2j]), np.zeros(1)
    want, got = copies(given), copies(given)
    found(*want)
    run(backend, parpy.jit(found), got, {})
    assert got[4].tolist() == want[4].tolist() == [2]
