"""Members of enums as arguments, results and constants of kernels and loops."""

from __future__ import annotations

import enum

import numpy as np
import pytest

import kernel_places
import parpy
from parpy import cuda

backend = kernel_places.backend


class Side(enum.Enum):
    LEFT = "left"
    RIGHT = "right"


class Level(enum.IntEnum):
    LOW = 10
    HIGH = 20


@cuda.jit(device=True)
def chosen(a, b, other):
    if a is b:
        return Side.LEFT
    return other


@cuda.jit
def compared(a, b, level, out):
    out[0] = 1 if a == Side.LEFT else 2
    out[1] = a is b
    out[2] = a is not Side.RIGHT
    out[3] = a != b
    out[4] = chosen(a, b, Side.RIGHT) is Side.LEFT
    out[5] = level is Level.HIGH
    out[6] = level + Level.LOW


def test_kernels():
    for a in Side:
        for b in Side:
            for level in Level:
                out = np.zeros(7, np.int64)
                compared[1, 1](a, b, level, out)
                left = a is Side.LEFT
                np.testing.assert_array_equal(
                    out, [1 if left else 2, a is b, left, a is not b, a is b, level is Level.HIGH, level + 10]
                )


def test_loops():
    @parpy.jit
    def signed(x, side):
        for i in range(x.shape[0]):
            if side is Side.LEFT:
                x[i] = -x[i]
            elif side == Side.RIGHT:
                x[i] = 2 * x[i]

    x = np.arange(3.0)
    signed(x, Side.LEFT)
    signed(x, Side.RIGHT)
    np.testing.assert_array_equal(x, [0, -2, -4])


class Factor(enum.Enum):
    ONE = 1
    HALF = 0.5
    TEXT = "text"


@cuda.jit
def valued(out, factor):
    out[0] = factor.value
    out[1] = factor.name == "ONE"
    out[2] = factor is Factor.HALF


@cuda.jit
def replaced(out, factor):
    if out[0] > 0:
        factor = Factor.HALF
    out[0] = factor.value


def test_values_and_names_of_members():
    for factor in (Factor.ONE, Factor.HALF, Factor.ONE):
        out = np.zeros(3)
        valued[1, 1](out, factor)
        assert out.tolist() == [factor.value, factor is Factor.ONE, factor is Factor.HALF]
    with pytest.raises(parpy.CompileError):
        valued[1, 1](np.zeros(3), Factor.TEXT)
    with pytest.raises(parpy.CompileError):
        replaced[1, 1](np.ones(1), Factor.ONE)


def test_values_of_members_in_loops():
    @parpy.jit
    def scaled(x, factor):
        for i in range(x.shape[0]):
            x[i] *= factor.value

    x = np.arange(3.0)
    for factor in (Factor.HALF, Factor.ONE, Factor.HALF):
        scaled(x, factor)
    np.testing.assert_array_equal(x, np.arange(3.0) / 4)
