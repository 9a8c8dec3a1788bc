"""Python's forms in programs for numba.cuda: shapes as tuples, local names for indices, loops over arrays, `is
True`, enums, functions of `operator`, atomics as arguments."""

from __future__ import annotations

import enum
import operator
from collections import namedtuple
from typing import NamedTuple

import numpy as np
import pytest

import kernel_places
import parpy
from parpy import cuda

backend = kernel_places.backend

TILE = (4, 4)
ODD = (2, np.int32(3))


@cuda.jit
def transposed(x, y):
    tile = cuda.shared.array(TILE, np.float64)
    i, j = cuda.grid(2)
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = x[j, i]
    cuda.syncthreads()
    y[i, j] = tile[cuda.threadIdx.y, cuda.threadIdx.x]


@cuda.jit
def shaped(out):
    own = (4, 2)
    a, b = cuda.shared.array(shape=ODD, dtype=np.float64), cuda.local.array(own, np.int32)
    c = cuda.shared.array(ODD[1], np.int8)
    a[1, 2], b[3, 1], c[2] = 3, 2, 1
    out[0] = a[1, 2] + b[3, 1] + c[2]


def test_shapes_are_tuples():
    x, y = np.arange(16.0).reshape(4, 4), np.zeros((4, 4))
    transposed[(1, 1), (4, 4)](x, y)
    np.testing.assert_array_equal(y, x.T)
    out = np.zeros(1)
    shaped[1, 1](out)
    assert out[0] == 6


def test_shapes_that_are_none():
    wrong = (4, 2.5)

    @cuda.jit
    def kernel(out):
        a = cuda.shared.array(wrong, np.float64)
        out[0] = a[0, 0]

    with pytest.raises(parpy.CompileError, match="the shape of an array of a kernel must be constant"):
        kernel[1, 1](np.zeros(1))


@cuda.jit
def local_names(out):
    t = cuda.threadIdx
    b = cuda.blockIdx
    size = cuda.blockDim
    add = cuda.atomic.add
    group = cuda.atomic
    i = t.x + b.x * size.x
    add(out, 0, 1)
    if t.x < 2:
        group.max(out, 1, size.x)
        out[2 + i] = t.x + 10 * b.x


def test_local_names():
    out = np.zeros(8, np.int64)
    local_names[2, 4](out)
    assert out.tolist() == [8, 4, 0, 1, 0, 0, 10, 11]


@cuda.jit
def loops(x, out):
    i = cuda.grid(1)
    own, shared = cuda.local.array(3, np.int64), cuda.shared.array(4, np.float64)
    row = x[i]
    for j, value in enumerate(row):
        own[j] = value
        out[i] += j * value
    shared[i] = i
    cuda.syncthreads()
    for value in own:
        out[i] += value
    for value in shared:
        out[i] += value
    for p, q in zip(row, x[i, ::-1]):  # noqa: B905
        out[i] += p * q
    for j, value in enumerate((1, 2, 3)):
        out[i] += j * value
    for whole in x:
        for value in whole:
            out[i] += value


def test_loops_over_arrays():
    x, out = np.arange(12.0).reshape(4, 3), np.zeros(4)
    loops[1, 4](x, out)
    wanted = x @ [0, 1, 2] + x.sum(1) + 6 + (x * x[:, ::-1]).sum(1) + 8 + x.sum()
    np.testing.assert_array_equal(out, wanted)


@cuda.jit
def truths(x, b, n):
    x[0], x[1], x[2], x[3] = b is True, b is False, n is True, b is not True
    x[4] = (n == 1) is True
    if True is b:
        x[5] = 9


def test_is_true():
    x = np.zeros(6)
    truths[1, 1](x, True, 1)
    assert x.tolist() == [1, 0, 0, 0, 1, 9]
    truths[1, 1](x, np.bool_(False), 1)
    assert x.tolist()[:5] == [0, 1, 0, 1, 1]


class Way(enum.IntEnum):
    UP = 1
    DOWN = 2


class Mode(enum.Enum):
    FAST = 3


@cuda.jit
def enums(out, way):
    if way == Way.DOWN:
        out[0] = 1
    out[1], out[2], out[3] = Way.UP, Way.DOWN.value, Mode.FAST.value


def test_enums():
    out = np.zeros(4)
    enums[1, 1](out, Way.DOWN)
    assert out.tolist() == [1, 1, 2, 3]


@cuda.jit(device=True)
def applied(f, a, b):
    return f(a, b)


@cuda.jit(device=True)
def updates(f, array, value):
    return f(array, 0, value)


@cuda.jit
def with_functions(out):
    out[1], out[2] = applied(operator.mul, 3, 4), applied(max, 3, 4)
    out[3], out[4] = operator.floordiv(7, 2), operator.neg(3)


@cuda.jit
def with_atomics(out):
    updates(cuda.atomic.add, out, 2)


def test_functions_as_arguments():
    out = np.zeros(5)
    with_functions[1, 1](out)
    assert out.tolist() == [0, 12, 4, 3, -3]
    with_atomics[1, 4](out)
    assert out[0] == 8


@pytest.mark.parametrize(
    "name", ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor", "eq",
             "ne", "lt", "le", "gt", "ge"],
)  # fmt: skip
def test_operators_by_name(name):
    function = getattr(operator, name)

    @cuda.jit
    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = function(x[i], y[i])

    x, y = np.array([7, -7, 5, 0], np.int64), np.array([2, 2, 3, 1], np.int64)
    out = np.zeros(4)
    kernel.forall(4)(x, y, out)
    np.testing.assert_array_equal(out, function(x, y))


Point = namedtuple("Point", "x y")


class Scaled(NamedTuple):
    by: float
    offset: float = 2.0


@cuda.jit(device=True)
def point_of(a):
    return Point(a, a + 1)


@cuda.jit
def points(out):
    p, q, s = Point(1, 2.5), point_of(3), Scaled(4)
    u, v = q
    out[0], out[1], out[2], out[3] = p.x + p.y, q.y, s.by * s.offset, point_of(5).y + u + v + p[1]


def test_named_tuples_are_made():
    out = np.zeros(4)
    points[1, 1](out)
    assert out.tolist() == [3.5, 4, 8, 15.5]


@cuda.jit
def sizes(x, out):
    own = cuda.shared.array(3, np.int16)
    out[0], out[1], out[2], out[3] = x.itemsize, x.nbytes, own.itemsize, own.nbytes


@pytest.mark.parametrize("dtype", [np.bool_, np.float16, np.float32, np.int64, np.complex128])
def test_bytes_of_arrays(dtype):
    x, out = np.zeros((2, 3), dtype), np.zeros(4)
    sizes[1, 1](x, out)
    assert out.tolist() == [x.itemsize, x.nbytes, 2, 6]


def test_texts_with_values(capfd):
    @cuda.jit
    def kernel(n, x):
        print(f"n = {n}, twice {2 * n}", x[0], sep=";")

    kernel[1, 1](3, np.array([0.5]))
    cuda.synchronize()
    assert capfd.readouterr().out == "n = 3, twice 6;0.5\n"

    @cuda.jit
    def formatted(n):
        print(f"{n:5d}")

    with pytest.raises(parpy.CompileError, match="'print' in a kernel formats values in its own way"):
        formatted[1, 1](3)
