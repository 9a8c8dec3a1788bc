"""Constant subscripts outside their array: an error if they are reached, and only then."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS
from parpy import CompileBackend, CompileOptions


@parpy.jit
def guarded(a, b):
    if a[0] > 100:
        a[0] = b[7]
    a[1] = 1


@parpy.jit
def guarded_from_the_end(a, b):
    for i in range(len(a)):
        a[i] += b[-1] if a[i] > 100 else 1


@parpy.jit
def guarded_store(a, b):
    for i in range(len(a)):
        if a[i] > 100:
            b[-6] = a[i]
        a[i] += 1


@parpy.jit
def last(b):
    return b[-1]


@parpy.jit
def guarded_call(a, b):
    for i in range(len(a)):
        if a[i] > 100:
            a[i] = last(b)


@parpy.jit
def empty_loop(a, b, n):
    for i in range(n):
        a[i] = b[n - 1] + b[-1]


SIZES = {guarded: 4, guarded_from_the_end: 0, guarded_store: 5, guarded_call: 0}
OPTIONS = [{}, {"automatic": True}, {"check": "bounds"}, {"legality": "trust"}]


def options(backend, fields):
    mapping = {} if "automatic" in fields else {"parallelize": {"gpu": parpy.threads(1)}}
    return CompileOptions(backend=CompileBackend(backend), **mapping, **fields)


@pytest.mark.parametrize("fields", OPTIONS, ids=str)
@pytest.mark.parametrize("function", SIZES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", TARGETS)
def test_an_access_that_is_not_reached_is_no_error(backend, function, fields):
    if backend == "cuda" and "check" in fields:
        pytest.skip("checks need the CPU or the simulator")
    b = np.ones(SIZES[function])
    got, want = np.arange(6.0), np.arange(6.0)
    function(got, b, opts=options(backend, fields))
    function(want, b, seq=True)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("function", SIZES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", TARGETS)
def test_an_access_that_is_reached_is_an_index_error(backend, function):
    b = np.ones(SIZES[function])
    a = np.full(6, 101.0)
    with pytest.raises(
        IndexError, match=rf"subscript (7|-1|-6) is out of bounds for axis 0 of 'b', whose size is {len(b)}"
    ):
        function(a, b, opts=options(backend, {"automatic": True}))


@pytest.mark.parametrize("fields", OPTIONS, ids=str)
@pytest.mark.parametrize("backend", TARGETS)
def test_loops_without_iterations_over_empty_arrays(backend, fields):
    if backend == "cuda" and "check" in fields:
        pytest.skip("checks need the CPU or the simulator")
    empty_loop(np.zeros(3), np.zeros(0), 0, opts=options(backend, fields))


def test_an_access_that_is_reached_for_certain_is_refused_before_anything_runs():
    @parpy.jit
    def certain(a, b):
        a[0] = 5
        a[1] = b[4]

    a = np.zeros(3)
    with pytest.raises(IndexError, match="subscript 4 is out of bounds for axis 0 of 'b', whose size is 4"):
        certain(a, np.zeros(4), opts=CompileOptions(backend=CompileBackend.Cpu))
    assert not a.any()
