"""Calls that store to arrays in statements that compute arrays: they run in Python's order, or are refused."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, copies, options


@parpy.jit
def twice(v):
    return v * 2


@parpy.jit
def bumped(v):
    v[0] += 10
    return v[0]


@parpy.jit
def maybe(v, n):
    if n > 0:
        t = v * 2
    return t * 1


@parpy.jit
def itself(v):
    return v * 1


def a_copy(x, k):
    t = x.copy() + bumped(x)
    return t


def a_conversion(x, k):
    t = x.astype(np.float64) - bumped(x)
    return t


def numbers_and_arrays(x, k):
    return x * 1, bumped(x), x * 1


def a_number_first(x, k):
    return bumped(x), x * 1


def copies_of_parts(x, k):
    y = x[1:].copy()
    y += 1
    return y, x.copy()


def of_its_own_type(x, k):
    return x.astype(np.float64), +x


def an_argument_computed(x, k):
    t = itself(x)
    t[0] = 100
    return t


def growing_again(x, k):
    n = k[0]
    t = x[:n] * 1
    s = 0.0
    for i in range(2):
        u = t * 2
        s += parpy.sum(u)
    return s, t * 1


def half_bound(x, k):
    for i in range(3):
        if k[i] > 0:
            t = x[i:] * 2
        x[0] += t.shape[0]
    return x * 1


def stored_before(x, k):
    return bumped(x) + twice(x)


def stored_between(x, k):
    s = bumped(x) + np.sum(twice(x))
    return s


FUNCTIONS = [
    a_copy, a_conversion, numbers_and_arrays, a_number_first, copies_of_parts, of_its_own_type, an_argument_computed,
    growing_again, half_bound, stored_before, stored_between,
]  # fmt: skip


@pytest.mark.parametrize("automatic", [False, True])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", TARGETS)
def test_as_python(backend, function, automatic):
    given = np.arange(5.0) + 1, np.array([3, 0, 2])
    want, got = copies(given), copies(given)
    expected = function(*want)
    opts = parpy.CompileOptions(backend=parpy.CompileBackend(backend), automatic=True) if automatic else None
    result = parpy.jit(function)(*got, opts=opts or options(backend, {}))
    if not isinstance(expected, tuple):
        expected, result = (expected,), (result,)
    for a, b in zip([*want, *expected], [*got, *result], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def products_and_a_call(x, k):
    t = x * 1 + bumped(x)
    return t


def of_the_call_before(x, k):
    for i in range(2):
        x[i] = np.sum(maybe(x, k[i]))


def rebound_sizes(x, k):
    n = k[0]
    t = x[:n] * 1
    for i in range(2):
        u = t * 2
        t = u + 1
    return t * 1


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (products_and_a_call, "P219"),
        (of_the_call_before, "P228.*may read 't' before it has a value"),
        (rebound_sizes, "P227"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_refused(function, message):
    with pytest.raises(parpy.CompileError, match=message):
        parpy.jit(function)(np.arange(5.0) + 1, np.array([3, 0, 2]), opts=parpy.par({}))


@pytest.mark.parametrize("function", [products_and_a_call, rebound_sizes])
def test_python_runs_what_is_refused(function):
    got, want = (np.arange(5.0) + 1 for _ in range(2))
    expected = function(want, np.array([3, 0, 2]))
    np.testing.assert_array_equal(parpy.jit(function)(got, np.array([3, 0, 2])), expected)
    np.testing.assert_array_equal(got, want)


def unbound(x, n):
    if n > 1:
        t = x * 2
    return t


def unbound_and_computed(x, n):
    for i in range(n):
        t = x * i
    return t * 1


@pytest.mark.parametrize("function", [unbound, unbound_and_computed], ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", TARGETS)
def test_results_without_a_value(backend, function):
    x = np.ones(3)
    np.testing.assert_array_equal(parpy.jit(function)(x, 2, opts=options(backend, {})), function(x, 2))
    with pytest.raises(UnboundLocalError, match="P423"):
        parpy.jit(function)(x, 0, opts=options(backend, {}))


@parpy.jit
def stored_and_returned(v):
    v[0] += 1
    return v * 2


def of_no_use(x, k):
    stored_and_returned(x)
    for i in range(3):
        stored_and_returned(x[i:])
    t = stored_and_returned(x)
    return t


@pytest.mark.parametrize("backend", TARGETS)
def test_a_result_that_nobody_takes(backend):
    want, got = np.arange(5.0), np.arange(5.0)
    opts = parpy.CompileOptions(backend=parpy.CompileBackend(backend), automatic=True)
    np.testing.assert_array_equal(parpy.jit(of_no_use)(got, 0, opts=opts), of_no_use(want, 0))
    np.testing.assert_array_equal(want, got)
