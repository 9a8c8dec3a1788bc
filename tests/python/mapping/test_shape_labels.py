"""Labels in front of reductions, and those that `implicit_shape_labels` takes from the symbols of annotations."""

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
    opts.implicit_shape_labels = True
    got, want = arguments(function), arguments(function)
    facts = parpy.explain(function, *got, opts=opts).facts
    assert sum(loop["level"] != "sequential" for loop in facts["loops"]) >= 1
    function(*want, seq=True)
    function(*got, opts=opts)
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
