"""Tuples as arguments of kernels: of numbers, arrays and tuples; and shapes as results of device functions."""

from __future__ import annotations

import numpy as np
import pytest

import kernel_places
import parpy
from parpy import cuda
from parpy.cuda import types

backend = kernel_places.backend


@cuda.jit
def sums(t, out):
    out[0] = t[0] + t[1]
    a, b = t
    out[1], out[2] = a, len(t) + 0 * b


@pytest.mark.parametrize("t", [(3, 4.5), (np.float32(2), 1), (True, 2**40)])
def test_numbers(t):
    out = np.zeros(3)
    for _ in range(2):
        sums[1, 1](t, out)
        assert out.tolist() == [t[0] + t[1], t[0], 2]


@cuda.jit
def mixed(t, out):
    i = cuda.grid(1)
    x, (low, high), s = t
    if i < x.shape[0]:
        out[i] = min(max(x[i], low), high) * s + t[0][0] + t[1][1] - t[1][1]


def test_arrays_and_tuples_in_tuples():
    x, out = np.arange(10.0), np.zeros(10)
    mixed[1, 32]((x, (2, 5), 3), out)
    np.testing.assert_array_equal(out, np.clip(x, 2, 5) * 3)
    on_device = cuda.to_device(x.astype(np.float32))
    mixed.forall(10)((on_device, (2.5, 5.5), np.float32(2)), out)
    np.testing.assert_array_equal(out, np.clip(x, 2.5, 5.5) * 2)


@cuda.jit
def stores(t):
    t[0][cuda.grid(1)] = t[1]
    row = t[2][1]
    row[0] = 7


def test_arrays_in_tuples_are_written():
    x, y = np.zeros(4), np.zeros((3, 2))
    stores[1, 4]((x, 5, y))
    assert (x == 5).all() and y.tolist() == [[0, 0], [7, 0], [0, 0]]


@cuda.jit(device=True)
def product(t):
    return t[0] * t[1]


@cuda.jit(device=True)
def element(t, i):
    return t[0][i] * t[1]


@cuda.jit
def handed_on(t, u, out):
    out[0] = product(t)
    out[1] = element(u, 2)
    out[2] = element((u[0], 3), 1)


def test_functions_get_them():
    out = np.zeros(3)
    handed_on[1, 1]((3, 4.5), (np.arange(3.0), 5), out)
    assert out.tolist() == [13.5, 10, 3]


@cuda.jit
def place(at, x, out):
    out[0] = x[at]
    total = 0.0
    for i in range(len(at)):
        total += at[i]
    out[1] = total


def test_subscripts_and_loops_over_them():
    out = np.zeros(2)
    place[1, 1]((1, 2), np.arange(12.0).reshape(3, 4), out)
    assert out.tolist() == [6, 3]
    place[1, 1]((1, 2, 0), np.arange(12.0).reshape(1, 3, 4)[:, :, ::-1].copy().reshape(2, 3, 2), out)
    assert out[1] == 3


def test_the_same_kernel_takes_arrays_and_tuples():
    @cuda.jit
    def first(t, out):
        out[0] = t[0] + t[1]

    out = np.zeros(1)
    for t in (np.array([1, 2]), (3, 4), np.array([5, 6.5]), (1.5, 2)):
        first[1, 1](t, out)
        assert out[0] == t[0] + t[1]


def test_signatures_of_tuples():
    @cuda.jit("void(Tuple((float32, int32[:])), float64[:])")
    def kernel(t, out):
        out[0], out[1] = t[0], t[1][1]

    out = np.zeros(2)
    kernel[1, 1]((1 / 3, np.arange(3, dtype=np.int32)), out)
    assert out.tolist() == [float(np.float32(1 / 3)), 1]
    with pytest.raises(TypeError, match=r"'t\[1\]' must be an int32\[:\], not an array of int64"):
        kernel[1, 1]((1.0, np.arange(3)), out)
    with pytest.raises(TypeError, match=r"'t' must be a Tuple\(\(float32, int32\[:\]\)\), not a tuple of 3"):
        kernel[1, 1]((1.0, 2, 3), out)
    assert types.UniTuple(types.float32, 2) == types.Tuple((np.float32, "float32"))
    assert str(types.UniTuple("int8", 3)) == "UniTuple(int8, 3)"
    with pytest.raises(TypeError, match="a foreign function takes numbers and pointers to numbers"):
        cuda.declare_device("f", "int32(UniTuple(int32, 2))")

    @cuda.jit("float64(UniTuple(float64, 2))", device=True)
    def total(t):
        return t[0] + t[1]

    @cuda.jit(types.void(types.UniTuple(types.float64, 2), types.float64[:]))
    def calls(t, out):
        out[0] = total(t) + total((out[1], 3))

    calls[1, 1]((1, 2.5), out)
    assert out[0] == 3.5 + 4


def test_what_is_wrong_with_tuples():
    @cuda.jit
    def third(t, out):
        out[0] = t[2]

    with pytest.raises(parpy.CompileError, match="the tuple 't' has no element 2"):
        third[1, 1]((1, 2), np.zeros(1))

    @cuda.jit
    def store(t):
        t[0] = 1

    with pytest.raises(parpy.CompileError, match="'t' is a tuple, which cannot be changed"):
        store[1, 1]((1, 2))
    with pytest.raises(TypeError):
        sums[1, 1](("a", 2), np.zeros(3))


def test_mistakes_are_told_by_the_launch_that_shows_them():
    @cuda.jit
    def unpacks(t, out):
        a, b = t
        out[0] = a + b + not_there_yet  # noqa: F821

    for given in (np.zeros(2), (1, 2)):
        with pytest.raises(NameError, match="not_there_yet"):
            unpacks[1, 1](given, np.zeros(1))


# ---------------------------------------------------------------- shapes


@cuda.jit(device=True)
def shape_of(x):
    return x.shape


@cuda.jit
def shapes(x, out):
    n, m = shape_of(x)
    s = shape_of(x[0])
    out[0], out[1], out[2], out[3] = n, m, s[0], shape_of(x)[1]


def test_functions_return_shapes():
    out = np.zeros(4)
    shapes[1, 1](np.zeros((3, 5)), out)
    assert out.tolist() == [3, 5, 5, 5]

    @cuda.jit
    def one(x, out):
        out[0] = shape_of(x)[0]

    one[1, 1](np.zeros(7), out)
    assert out[0] == 7
