"""Labels before reductions, and labels that `implicit_shape_labels` derives from the symbols of annotations."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options
from parpy import threads
from parpy.types import F64, buffer, symbol

N, M = symbol(), symbol()
MATRIX, ROW, COLUMN = buffer(F64, [N, M]), buffer(F64, [M]), buffer(F64, [N])


@parpy.jit
def method(x: MATRIX, y: COLUMN):
    y[0] = x[:, :].sum()


@parpy.jit
def method_along_an_axis(x: MATRIX, y: COLUMN):
    y[:] = x[:, :].max(axis=1) + x[:, :].min(1)


@parpy.jit
def two_reductions(x: COLUMN, z: ROW, y: COLUMN):
    y[0] = parpy.sum(x[:]) + parpy.sum(z[:])


@parpy.jit
def over_a_length(x: MATRIX, y: COLUMN):
    for i in range(len(y)):
        y[i] = x[i, :].sum()


@parpy.jit
def rows_taken_whole(x: MATRIX, y: COLUMN):
    y[0] = parpy.sum(x[:])


@parpy.jit
def contraction(x: MATRIX, z: ROW, y: COLUMN):
    y[:] = x[:, :] @ z[:]


def arguments(function):
    r = np.random.default_rng(0)
    x, z, y = r.random((12, 70)), r.random(70), np.zeros(12)
    if function is two_reductions:
        return r.random(12), z, y
    return (x, z, y) if function is contraction else (x, y)


ALL = [method, method_along_an_axis, two_reductions, over_a_length, rows_taken_whole, contraction]


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("loops", [("N",), ("M",), ("N", "M")], ids="+".join)
@pytest.mark.parametrize("function", ALL)
def test_symbols_name_loops(function, loops, backend):
    opts = options(backend, {label: threads(32) if label == "M" else threads(4) for label in loops})
    got, want = arguments(function), arguments(function)
    facts = parpy.explain(function, *got, opts=opts).facts
    assert sum(loop["level"] != "sequential" for loop in facts["loops"]) >= 1
    function(*want, seq=True)
    function(*got, opts=opts)
    np.testing.assert_allclose(got[-1], want[-1])


@parpy.jit
def inner_rows(x: MATRIX, y: COLUMN):
    for i in range(1, N - 1):
        for j in range(M - 1, -1, -1):
            y[i] += x[i, j] * j


@parpy.jit
def inner_lengths(x: MATRIX, y: COLUMN):
    for i in range(2 + len(y) - 3):
        y[i] = parpy.sum(x[i, 1 : M - 2])


@parpy.jit
def inner_shapes(x: MATRIX, y: COLUMN):
    for i in range(3, x.shape[0] - 1):
        y[i] = parpy.max(x[i, : x.shape[1] - 1])


@parpy.jit
def inner_slices(x: MATRIX, y: COLUMN):
    y[1:-1] = parpy.sum(x[2:, :-3], axis=1)


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("function", [inner_rows, inner_lengths, inner_shapes, inner_slices])
def test_symbols_name_loops_that_are_longer_or_shorter(function, backend):
    opts = options(backend, {"N": 4, "M": threads(32)})
    got, want = arguments(function), arguments(function)
    facts = parpy.explain(function, *got, opts=opts).facts
    assert [loop["threads"] for loop in facts["loops"]] == [4, 32]
    function(*want, seq=True)
    function(*got, opts=opts)
    np.testing.assert_allclose(got[-1], want[-1])


@parpy.jit
def not_their_extents(x: MATRIX, y: COLUMN):
    for i in range(N):
        for j in range(i, M):
            y[i] += x[i, j]
    for i in range(5):
        y[i] += 1
    for i in range(0, N, 2):
        y[i] += 1
    y[-3:] += 1
    y[:4] += 1
    y[::2] += 1


def test_symbols_do_not_name_other_loops():
    got, want = arguments(not_their_extents), arguments(not_their_extents)
    opts = options("cpu", {"N": 4, "M": 32})
    facts = parpy.explain(not_their_extents, *got, opts=opts).facts
    assert [loop["threads"] for loop in facts["loops"]] == [4, 0, 0, 0, 0, 0, 0]
    not_their_extents(*want, seq=True)
    not_their_extents(*got, opts=opts)
    np.testing.assert_allclose(got[-1], want[-1])


@parpy.jit
def labelled_method(x, y):
    parpy.label("n")
    parpy.label("m")
    y[0] = x[:, :].sum()


@parpy.jit
def labelled_sums(a, b):
    parpy.label("n")
    parpy.label("m")
    s = parpy.sum(a[:]) + parpy.sum(b[:])
    with parpy.gpu:
        a[0] = s


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("loops", [{"n": 4}, {"m": 32}, {"n": 4, "m": 32}], ids="+".join)
def test_labels_in_front(loops, backend):
    r = np.random.default_rng(0)
    cases = [(labelled_method, (r.random((5, 40)), np.zeros(1))), (labelled_sums, (r.random(30), r.random(40)))]
    for function, given in cases:
        got, want = [a.copy() for a in given], [a.copy() for a in given]
        function(*want, seq=True)
        function(*got, opts=options(backend, loops))
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, b)


K = symbol()


@parpy.callback
def note():
    pass


@parpy.jit
def in_a_function(x: MATRIX, y: COLUMN):
    for i in range(N):
        y[i] += parpy.sum(x[i, :])


@parpy.jit
def in_a_driver(z: buffer(F64, [K])):
    note()
    z[:] = z[:] + 1


@parpy.jit
def in_parts(x: MATRIX, y: COLUMN):
    y[:] = 0
    note()
    y[:] += parpy.sum(x[:, :], axis=1)
    note()
    in_a_function(x, y)
    in_a_driver(y)
    note()
    for i in range(N):
        y[i] += 1


@pytest.mark.parametrize("backend", TARGETS)
def test_symbols_name_loops_of_all_parts_of_a_function(backend):
    x, y = np.random.default_rng(0).random((12, 70)), np.zeros(12)
    opts = options(backend, {"N": 32, "M": 64, "K": 96})
    in_parts(x, y, opts=opts)
    np.testing.assert_allclose(y, 2 * x.sum(1) + 2)
    loops = parpy.explain(in_parts, x, y, opts=opts).facts["loops"]
    assert [loop["threads"] for loop in loops] == [32, 32, 64, 32, 64, 96, 32]


def test_symbols_name_no_loops_where_that_is_not_wanted():
    opts = options("cpu", {"K": 64})
    opts.implicit_shape_labels = False
    (note,) = parpy.explain(in_a_driver, np.zeros(3), opts=opts).facts["notes"]
    assert "performance[P301]" in note and "the label 'K'" in note
