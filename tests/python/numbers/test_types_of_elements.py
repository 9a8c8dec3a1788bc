"""The types of elements as values: x.dtype.type(v), names for x.dtype, names of types, bytes."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import BACKENDS, TARGETS, options, run

ELEMENTS = [
    np.array([0, 2, 5], dtype=dtype) for dtype in ("float64", "float32", "int64", "int16", "uint8", "bool", "complex64")
]
BY_TYPE = pytest.mark.parametrize("x", ELEMENTS, ids=lambda x: x.dtype.name)


def sums(x, out):
    total = x.dtype.type(0)
    for i in range(x.shape[0]):
        total += x[i] * x.dtype.type(3)
    out[0] = total


def named(x, out):
    t = x.dtype.type
    dt = x.dtype
    for i in range(3):
        out[i] = (x[i] + t(1)) * dt.type(2)


def of_values(x, out):
    y = x * x
    for i in range(3):
        out[i] = y.dtype.type(i + 1.75) + y[i]
    out += y.dtype.type(x)


def questions(x):
    return (
        x.dtype.type is np.float32,
        x.dtype.type is not np.float32,
        x.dtype.type == np.int64,
        x.dtype.kind == "f",
        x.dtype.kind in "iu",
        x.dtype.kind not in ("f", "c"),
        x.dtype.name == "uint8",
        x.dtype == "float64",
        x.dtype != "f4",
        x.itemsize,
        x.nbytes,
        x[1:].dtype.itemsize,
    )


def results(x, v):
    return x.dtype.type(v)


def made_of_named_types(x):
    dt = x.dtype
    made, more = np.zeros(3, dtype=dt), np.ones(3, x.dtype.type)
    for i in range(3):
        made[i] = x[i] + dt.type(1)
    return made + more


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [sums, named, of_values], ids=lambda f: f.__name__)
@BY_TYPE
def test_conversions_to_the_type_of_elements(backend, function, x):
    want, got = np.zeros(3, x.dtype), np.zeros(3, x.dtype)
    function(x, want)
    run(backend, parpy.jit(function), (x, got), {})
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("backend", TARGETS)
@BY_TYPE
def test_questions_of_types_of_elements(backend, x):
    assert parpy.jit(questions)(x, opts=options(backend, {})) == questions(x)


@pytest.mark.parametrize("backend", TARGETS)
@BY_TYPE
def test_returned_numbers_have_the_type_of_elements(backend, x):
    for v in (0, 2.7, True):
        want = results(x, v)
        got = parpy.jit(results)(x, v, opts=options(backend, {}))
        assert got == want
        assert np.asarray(got).dtype == want.dtype


@pytest.mark.parametrize("backend", TARGETS)
@BY_TYPE
def test_arrays_of_named_types(backend, x):
    want, got = made_of_named_types(x), parpy.jit(made_of_named_types)(x, opts=options(backend, {}))
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)
