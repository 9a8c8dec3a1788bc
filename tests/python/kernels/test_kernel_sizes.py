"""Kernels count in 32 bits if the arrays and the launch are small, and otherwise in 64."""

from __future__ import annotations

import numpy as np
import pytest

from parpy import cuda

pytestmark = pytest.mark.usefixtures("simulator")

LARGE = 2**31 + 2**20


@cuda.jit(device=True)
def put(x, i, value):
    x[x.shape[0] - 1 - i] = value


@cuda.jit
def from_the_end(x, y):
    i = cuda.grid(1)
    put(x, i, i + 1)
    x[-5 - i] = y[y.shape[0] - 1, y.shape[1] - 1 - i]


@pytest.fixture(scope="module")
def large():
    return np.zeros(LARGE, np.uint8)


def parameters(text):
    return text.split("__global__")[1].split("{")[0]


def test_long_arrays(large):
    for size in (100, LARGE, 101):
        x = large[:size]
        y = np.full((4, 8), 7, np.uint8)
        from_the_end[1, 4](x, y)
        assert x[-8:].tolist() == [7, 7, 7, 7, 4, 3, 2, 1]
        x[-8:] = 0
    small, long = (parameters(from_the_end.inspect_source(large[:size], y)) for size in (100, LARGE))
    assert "int x_extent0" in small and "i64 x_extent0" in long and "int y_stride0" in long


def test_rows_far_from_each_other(large):
    y = np.lib.stride_tricks.as_strided(large, (2, 2**20), (2**31 - 100, 1))
    y[1, -4:] = [1, 2, 3, 4]
    x = np.zeros(20, np.uint8)
    from_the_end[1, 4](x, y)
    assert x[-8:].tolist() == [1, 2, 3, 4, 4, 3, 2, 1]
    assert "i64 y_stride0" in parameters(from_the_end.inspect_source(x, y))


@cuda.jit
def last_thread(x):
    i = cuda.grid(1)
    if i == cuda.gridsize(1) - 1:
        x[0] = i


def test_many_blocks():
    x = np.zeros(1, np.int64)
    for blocks in (8, 2**21, 9):
        last_thread[blocks, 2](x)
        assert x[0] == 2 * blocks - 1


@cuda.jit
def counted(x, n):
    for i in range(n - 3, n):
        x[i - n] = i


def test_large_numbers():
    x = np.zeros(8, np.int64)
    for n in (8, 2**31, 2**40, -(2**31), 9):
        counted[1, 1](x, n)
        assert x[-3:].tolist() == [n - 3, n - 2, n - 1]


@cuda.jit
def products(x, out):
    out[0] = x.size
    rows, columns = x.shape
    out[1] = (rows - 1) * columns + columns - 1
    for q in range(rows * columns - 1, rows * columns):
        out[2] = q
    out[3 + rows * columns % 2] = x[rows - 1, columns - 1] + x[-1, -2]


def test_products_of_sizes_need_not_be_small():
    x, out = np.broadcast_to(np.array([[7]], np.int32), (70_001, 70_001)), np.zeros(5, np.int64)
    products[1, 1](x, out)
    n = 70_001**2
    assert out.tolist() == [n, n - 1, n - 1, 0, 14]
