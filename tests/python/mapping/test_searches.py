"""On a GPU in automatic mode, searches for the best element and its place are two reductions, with Python's results:
the choice among equal elements, NaN, signs of zero, no element."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import parpy
from backends import TARGETS, copies
from parpy import CompileBackend


@parpy.jit
def with_value(x):
    best = -np.inf
    at = -1
    for i in range(x.shape[0]):
        if x[i] > best:
            best = x[i]
            at = i
    return best, at


@parpy.jit
def last_least(x):
    best = x[0]
    at = 0
    for i in range(1, x.shape[0]):
        if best >= x[i]:
            at = i
            best = x[i]
    return best, at


@parpy.jit
def by_place(x):
    at = 0
    for i in range(1, x.shape[0]):
        if abs(x[at]) < abs(x[i]):
            at = i
    return x[at], at


@parpy.jit
def from_the_end(x):
    at = -1
    for i in range(x.shape[0]):
        if x[i] < x[at]:
            at = i
    return x[at], at


@parpy.jit
def unvisited(x):
    best = np.inf
    at = -1
    for i in range(x.shape[0]):
        if i % 3 != 0 and x[i] > -0.5:  # noqa: SIM102
            if x[i] < best:
                best = x[i]
                at = i
    return best, at


@parpy.jit
def nearest(x):
    best = 1e300
    at = -1
    other = 0.0
    for i in range(x.shape[0]):
        d = x[i] - 0.25
        square = d * d
        if square < best:
            best = square
            at = i
            other = x[x.shape[0] - 1 - i]
    return best + other, at


@parpy.jit
def pivots(x):
    """The row of the largest element of each column, at or below the diagonal."""
    n = x.shape[0]
    total = 0.0
    last = -1
    for k in range(n):
        row = k
        for i in range(k + 1, n):
            if abs(x[i] * (k + 1)) > abs(x[row] * (k + 1)):
                row = i
        total += x[row] * (row + 1)
        last = row
    return total, last


@parpy.jit
def not_a_search(x):
    """The kept value differs from the compared one, so the loop runs in order."""
    best = 0.0
    at = 0
    for i in range(x.shape[0]):
        if x[i] > best:
            best = x[i] * 0.5
            at = i
    return best, at


@parpy.jit
def reads_the_last_place(x):
    best = 0.0
    at = 0
    jumps = 0
    for i in range(x.shape[0]):
        if x[i] > best:
            best = x[i]
            jumps = i - at
            at = i
    return best + jumps, at


FUNCTIONS = [
    with_value,
    last_least,
    by_place,
    from_the_end,
    unvisited,
    nearest,
    pivots,
    not_a_search,
    reads_the_last_place,
]


def arrays():
    rng = np.random.default_rng(8)
    wide = rng.normal(size=40_000)
    few = rng.integers(-3, 4, 40_000).astype(float)  # many are equal
    some = np.where(rng.random(40_000) < 0.1, np.nan, few)
    zeros = rng.choice([0.0, -0.0], 30_000)
    return {
        "different": wide,
        "equal": few,
        "with NaN": some,
        "NaN first": np.r_[np.nan, few],
        "NaN alone": np.full(20_000, np.nan),
        "zeros": zeros,
        "infinite": np.where(rng.random(40_000) < 0.5, np.inf, -np.inf),
        "rising": np.arange(20_000.0),
        "one": np.array([2.5]),
        "strided": np.repeat(wide, 2)[::-2],
        "f32": few.astype(np.float32),
        "i64": few.astype(np.int64),
        "u8": rng.integers(0, 5, 30_000).astype(np.uint8),
        "u64": rng.integers(2**63, 2**64 - 1, 30_000, dtype=np.uint64),
        "limits": np.repeat(np.array([np.iinfo(np.int64).max, np.iinfo(np.int64).min]), 10_000),
    }


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("name", arrays())
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_results_are_those_of_python(function, name, backend):
    x = arrays()[name]
    if function is pivots:
        x = x[:150]
    if name in ("u8", "u64", "limits") and function not in (with_value, last_least, from_the_end):
        pytest.skip("NumPy's arithmetic of these numbers overflows, or has another type")
    with np.errstate(invalid="ignore"):
        want = function.py_func(x)
    got = function(x.copy(), opts=parpy.auto(backend=CompileBackend(backend)))
    np.testing.assert_array_equal(got, want)
    assert np.signbit(got[0]) == np.signbit(want[0])


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("function", [with_value, unvisited, nearest], ids=lambda f: f.__name__)
def test_nothing_is_found_in_nothing(function, backend):
    x = np.zeros(0)
    assert function(x, opts=parpy.auto(backend=CompileBackend(backend))) == function.py_func(x)


@pytest.mark.parametrize(("function", "splits"), list(zip(FUNCTIONS, [True] * 7 + [False] * 2, strict=True)))
def test_searches_are_reductions_on_a_gpu(function, splits):
    text = str(parpy.explain(function, np.zeros(1_000_000), opts=parpy.auto(backend=CompileBackend.Cuda)))
    assert all(("reduction" in row) == splits for row in text.splitlines() if "for i in range" in row), text


@pytest.mark.parametrize("fields", [{"fast_math": True}, {"extra_flags": ["--fmad=true"]}])
def test_values_that_may_differ_are_computed_once(fields):
    opts = parpy.auto(backend=CompileBackend.Cuda, **fields)
    assert "carries" in str(parpy.explain(nearest, np.zeros(1_000_000), opts=opts))


@parpy.jit
def shortest_paths(distance, weight, done):
    n = distance.shape[0]
    for _ in range(n):
        best = np.inf
        u = -1
        for i in range(n):
            if not done[i] and distance[i] < best:
                best = distance[i]
                u = i
        if u < 0:
            break
        done[u] = True
        for j in range(n):
            if weight[u, j] > 0.0:
                distance[j] = min(distance[j], distance[u] + weight[u, j])


@pytest.mark.parametrize("backend", TARGETS)
def test_shortest_paths(backend):
    rng = np.random.default_rng(1)
    n = 60
    weight = np.where(rng.random((n, n)) < 0.1, rng.random((n, n)), 0.0)
    distance = np.full(n, np.inf)
    distance[0] = 0
    given = (distance, weight, np.zeros(n, bool))
    want, got = copies(given), copies(given)
    shortest_paths.py_func(*want)
    shortest_paths(*got, opts=parpy.auto(backend=CompileBackend(backend)))
    for a, b in itertools.zip_longest(got, want):
        np.testing.assert_array_equal(a, b)


@parpy.jit
def places(x, bounds):
    bounds[0] = np.argmax(x)
    bounds[1] = np.argmin(x)


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("name", arrays())
def test_places_of_numpy(name, backend):
    x = arrays()[name]
    bounds = np.zeros(2, np.int64)
    places(x.copy(), bounds, opts=parpy.auto(backend=CompileBackend(backend)))
    assert bounds.tolist() == [np.argmax(x), np.argmin(x)]


def test_places_of_numpy_are_reductions_on_a_gpu():
    given = np.zeros(1_000_000), np.zeros(2, np.int64)
    text = str(parpy.explain(places, *given, opts=parpy.auto(backend=CompileBackend.Cuda)))
    assert text.count("reduction") >= 3, text  # loops over the same elements may be fused
    assert "sequential" not in text
