"""Compiled loops and kernels call functions of parpy.vectorize for single elements, with the types that NumPy uses."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import parpy
from backends import TARGETS, options
from parpy import cuda

CPU_AND_SIM = [each for each in TARGETS if each in ("cpu", "sim")]


@parpy.vectorize(["float32(float32, float32)", "float64(float64, float64)"])
def quotient(a, b):
    return a / b


@parpy.vectorize
def larger(a, b):
    if a > b:
        return a
    return a * b


@parpy.vectorize(["float64(float64)"], target="cuda")
def above(a):
    return a + 1


@parpy.vectorize(["Tuple((float32, int32))(float32, int32)"])
def both(a, b):
    return a + b, b


@pytest.fixture
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error", parpy.PerformanceWarning)
        warnings.filterwarnings("ignore", message=".*P316")
        yield


@parpy.jit
def loop(x, n, factor, out):
    for i in range(x.shape[0]):
        out[i, 0] = quotient(x[i], 3.0)
        out[i, 1] = quotient(x[i], 3)
        out[i, 2] = quotient(n[i], x[i])
        out[i, 3] = quotient(x[i], factor)
        out[i, 4] = quotient(n[i], 7)
        out[i, 5] = larger(x[i], 2) + above(x[i])


def wanted(x, n, factor):
    columns = [quotient(x, 3.0), quotient(x, 3), quotient(n, x), quotient(x, factor), quotient(n, 7)]
    return np.stack([*columns, larger(x, 2) + above(x)], axis=1)


CASES = [
    (np.float32, np.int16, 3.0),
    (np.float32, np.int64, np.float64(3)),
    (np.float64, np.uint8, 3),
    (np.float32, np.int8, np.float32(3)),
]


@pytest.mark.parametrize("backend", CPU_AND_SIM)
@pytest.mark.parametrize(("elements", "integers", "factor"), CASES)
def test_loops(backend, elements, integers, factor, no_warnings):
    x, n, out = np.arange(1, 7).astype(elements), np.arange(2, 8).astype(integers), np.zeros((6, 6))
    loop(x, n, factor, out, opts=options(backend, {}))
    np.testing.assert_array_equal(out, wanted(x, n, factor))


@cuda.jit
def kernel(x, n, factor, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i, 0] = quotient(x[i], 3.0)
        out[i, 1] = quotient(x[i], 3)
        out[i, 2] = quotient(n[i], x[i])
        out[i, 3] = quotient(x[i], factor)
        out[i, 4] = quotient(n[i], 7)
        out[i, 5] = larger(x[i], 2) + above(x[i])


@cuda.jit(device=True)
def applied(function, value):
    return function(value, value)


@cuda.jit
def kernel_of_tuples(x, out):
    i = cuda.grid(1)
    total, given = both(x[i], 2)
    out[i] = total + given + applied(larger, x[i])


@pytest.mark.parametrize(("elements", "integers", "factor"), CASES)
def test_kernels(elements, integers, factor, simulator):
    x, n, out = np.arange(1, 7).astype(elements), np.arange(2, 8).astype(integers), np.zeros((6, 6))
    kernel[1, 32](x, n, factor, out)
    np.testing.assert_array_equal(out, wanted(x, n, factor))


def test_tuples_and_arguments(simulator):
    x, out = np.arange(4, dtype=np.float32), np.zeros(4)
    kernel_of_tuples[1, 4](x, out)
    np.testing.assert_array_equal(out, x + 4 + x * x)


def test_numbers_that_no_signature_takes(simulator):
    @cuda.jit
    def of_complex(x):
        x[0] = quotient(x[0], 1.0)

    with pytest.raises(TypeError, match="no signature of 'quotient' takes the arguments of a call"):
        of_complex[1, 1](np.ones(3, complex))


def test_rows_of_expressions(no_warnings):
    @parpy.jit
    def rows(x, out):
        for i in range(x.shape[0]):
            out[i, :] = quotient(x[i, :], x[i, 0])

    x, out = np.arange(1.0, 13).reshape(3, 4), np.zeros((3, 4))
    rows(x, out)
    np.testing.assert_array_equal(out, quotient(x, x[:, :1]))


def test_arrays_are_for_the_ufunc():
    """Between loops, with outputs and as methods: Python calls it."""

    @parpy.jit
    def whole(x, y, out):
        z = larger(x, y)
        quotient(z, y, out=out)
        for i in range(out.shape[0]):
            out[i] = above(out[i])
        quotient(out, y, out)
        return larger.reduce(out)

    x, y, out = np.arange(4.0), np.full(4, 2.0), np.zeros(4)
    result = whole(x, y, out)
    expected = quotient(quotient(larger(x, y), y) + 1, y)
    np.testing.assert_array_equal(out, expected)
    assert result == larger.reduce(expected)


@parpy.vectorize([f"{each}({each}, {each})" for each in ("int32", "float32", "float64", "complex128")])
def third(a, b):
    return a / (b + b + b)  # the digits show the type


@parpy.jit
def thirds(x, y, out):
    for i in range(x.shape[0]):
        out[i] = third(x[i], y)


@pytest.mark.parametrize("kind", [np.bool_, np.int8, np.uint16, np.int64, np.float16, np.float32, np.complex64])
def test_the_loop_is_the_one_that_numpy_takes(kind, no_warnings):
    for number in (True, 1, 1.0, 1 + 0j, np.int16(1), np.float32(1)):
        out = np.zeros(1, complex)
        thirds(np.ones(1, kind), number, out)
        assert out[0] == complex(third(kind(1), number)), number
