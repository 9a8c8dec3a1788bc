"""What is asked about the types of numbers: isinstance, np.finfo, np.iinfo, and Python's numbers of elements."""

from __future__ import annotations

import math

import numpy as np
import pytest

import parpy
from backends import BACKENDS, TARGETS, options, run

F64, F32 = np.array([1.5, 2.5, 3.5]), np.array([1.5, 2.5], dtype=np.float32)
I32, U8 = np.array([3, 4, 5], dtype=np.int32), np.array([7], dtype=np.uint8)
C64, B = np.array([1 + 2j], dtype=np.complex64), np.array([True])


def instances(x):
    return (
        isinstance(x[0], float),
        isinstance(x[0], (int, np.integer)),
        isinstance(x[0], (float, np.floating)),
        isinstance(x[0], int | float | np.number),
        isinstance(x, np.ndarray),
        isinstance(x, (tuple, list)),
        isinstance(len(x), float),
        isinstance(x.sum() * 1.5, (float, complex, np.floating)),
    )


def of_variables(x, out):
    for i in range(len(x)):
        v = x[i] * 1.5
        w = np.sqrt(x)
        out[i] = 1 if isinstance(v, (float, np.floating)) else 2
        out[i] += 10 if isinstance(w, np.ndarray) else 20
        out[i] += 100 if isinstance(w[i], float) else 200


def by_kind(x, y):
    total = 0.0
    for i in range(len(x)):
        if isinstance(y, np.ndarray):
            total += x[i] * y[i]
        else:
            total += x[i] * y
    return total


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("given", [F64, F32, I32, U8, C64], ids=lambda x: x.dtype.name)
def test_instances_are_those_of_python(backend, given):
    assert parpy.jit(instances)(given, opts=options(backend, {})) == instances(given)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("given", [F64, F32], ids=lambda x: x.dtype.name)
def test_instances_of_variables(backend, given):
    want, got = np.zeros(3), np.zeros(3)
    of_variables(given, want)
    run(backend, parpy.jit(of_variables), (given, got), {})
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("second", [F64, 2.0, 3])
def test_arrays_are_told_from_numbers(backend, second):
    assert parpy.jit(by_kind)(F64, second, opts=options(backend, {})) == by_kind(F64, second)


def of_computed_numbers(x, k):
    y = x.sum()
    z, n = y * 2, len(x)
    return (
        isinstance(k + 1, int),
        isinstance(k * 2, np.integer),
        isinstance(k * x[0], int),
        isinstance(x[0], np.integer),
        isinstance(k, np.floating),
        isinstance(y, np.floating),
        isinstance(z, np.int64),
        isinstance(n * 2, int),
        isinstance(x.shape[0] + 1, np.integer),
        isinstance(float(x[0]), np.floating),
        isinstance(np.sqrt(x[0]), np.floating),
        isinstance(math.sqrt(x[0]), np.floating),
        isinstance(int(x[0]) + k, int),
    )


def in_a_loop(x, out):
    for i in range(len(x)):
        v = x[i] * 2
        out[i] = 1 if isinstance(v, np.integer) else 2
        out[i] += 10 if isinstance(i + 1, int) else 20
        out[i] += 100 if isinstance(i, np.integer) else 200
        out[i] += 1000 if isinstance(v, int) else 2000


def of_entries(t):
    return isinstance(t[0], int), isinstance(t[1], np.floating), isinstance(t[1], np.integer), isinstance(t[0], float)


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("k", [1, 2.5, np.int64(3), np.float64(2.5), np.float32(1)], ids=lambda k: type(k).__name__)
@pytest.mark.parametrize("dtype", ["int64", "float64", "float32", "int32", "uint8"])
def test_computed_numbers_are_python_s_or_numpy_s(backend, k, dtype):
    x = np.arange(1, 4).astype(dtype)
    assert parpy.jit(of_computed_numbers)(x, k, opts=options(backend, {})) == of_computed_numbers(x, k)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["int64", "float64", "int32"])
def test_computed_numbers_in_a_loop(backend, dtype):
    x, want, got = np.arange(1, 4).astype(dtype), np.zeros(3), np.zeros(3)
    in_a_loop(x, want)
    run(backend, parpy.jit(in_a_loop), (x, got), {})
    np.testing.assert_array_equal(got, want)


def test_entries_of_tuples():
    for given in ((1, 2.5), (np.int64(1), np.float64(2)), (1, np.int64(2)), (np.float32(1), 2)):
        assert parpy.jit(of_entries)(given) == of_entries(given)


def test_what_numbers_of_one_type_do_not_tell():
    def of_either(x):
        s = 0
        for v in x:
            s += v
        return isinstance(s, int)

    with pytest.raises(parpy.CompileError, match=r"P232\].*Python's numbers, and this may be either"):
        parpy.jit(of_either)(np.arange(3))


def floats(x, out):
    out[0] = np.finfo(x.dtype).eps
    out[1] = np.finfo(x.dtype).max
    out[2] = np.finfo(x.dtype).tiny
    out[3] = x[0] + np.finfo(x.dtype).eps


def integers(x, out):
    out[0] = np.iinfo(x.dtype).max
    out[1] = np.iinfo(x.dtype).min
    out[2] = np.iinfo(x.dtype).bits


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function, given", [(floats, F64), (floats, F32), (integers, I32), (integers, U8)])
def test_limits_are_those_of_numpy(backend, function, given):
    want, got = np.zeros(4), np.zeros(4)
    function(given, want)
    run(backend, parpy.jit(function), (given, got), {})
    np.testing.assert_array_equal(got, want)


def test_limits_that_a_type_does_not_have():
    with pytest.raises(parpy.CompileError, match=r"P232\].*np.finfo\(…\).eps takes the type of an array of floats"):
        parpy.jit(floats)(I32, np.zeros(4))


def items(x, m, out):
    out[0] = x.item(1) + x.item(-1)
    out[1] = m.item(1, 2) + m.item((0, 1))
    out[2] = m.item(4) + m.item(-6)
    out[3] = x[:1].item() + x[0].item()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("given", [F64, I32], ids=lambda x: x.dtype.name)
def test_items_are_those_of_numpy(backend, given):
    matrix = np.arange(6).reshape(2, 3).astype(given.dtype)
    want, got = np.zeros(4), np.zeros(4)
    items(given, matrix, want)
    run(backend, parpy.jit(items), (given, matrix, got), {})
    np.testing.assert_array_equal(got, want)


@parpy.jit
def only(x):
    return x.item()


@parpy.jit
def at(x, k):
    return x.item(k)


@pytest.mark.parametrize("given", [U8, C64, B, F32[:1]], ids=lambda x: x.dtype.name)
def test_items_are_numbers_of_python(given):
    assert only(given) == given.item()
    assert type(only(given)) is type(given.item())


def test_items_that_are_not_there():
    with pytest.raises(ValueError, match="can only convert an array of size 1 to a Python scalar"):
        only(F64)
    with pytest.raises(IndexError):
        at(F64, 3)
