"""np.histogram of a number of bins, also outside of loops: edges, counts and errors of compiled code are NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import BACKENDS, TARGETS, compiled_throughout, run
from parpy import CompileBackend

rng = np.random.default_rng(43)
KINDS = (np.float64, np.float32, np.int64, np.int32, np.uint8, np.int8, np.uint64)
CUTS = {
    "plain": np.s_[:],
    "backwards": np.s_[::-1],
    "every third": np.s_[::3],
    "one": np.s_[:1],
    "none": np.s_[:0],
}


@parpy.jit
def counted(a, n):
    return np.histogram(a, n)


@parpy.jit
def counted_between(a, n, low, high):
    return np.histogram(a, bins=n, range=(low, high))


@parpy.jit
def weighted(a, n, w):
    return np.histogram(a, n, weights=w)


@parpy.jit
def densities(a, n):
    return np.histogram(a, n, density=True)


@parpy.jit
def stored(a, w, counts, sums, edges):
    counts[:], edges[:] = np.histogram(a, counts.size)
    sums[:] = np.histogram(a, sums.size, weights=w)[0]


def check(function, backend, *given):
    want = function(*given, seq=True)
    with compiled_throughout():
        got = function(*given, opts=parpy.auto(backend=CompileBackend(backend)))
    for found, expected in zip(got, want, strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cut", CUTS)
def test_edges_and_counts_are_those_of_numpy(backend, kind, cut):
    a = (rng.random(500) * 120).astype(kind)[CUTS[cut]]
    check(counted, backend, a, 7)
    check(counted, backend, a.reshape(a.size, 1), 10)
    check(counted_between, backend, a, 13, 3.1, 97.3)
    check(counted_between, backend, a, 9, 5, 100)
    if a.size > 0:
        check(densities, backend, a, 12)


@pytest.mark.parametrize("backend", TARGETS)
def test_elements_on_edges_are_in_numpys_bins(backend):
    for n in (3, 7, 10, 49):
        edges = np.linspace(-0.3, 1.7, n + 1)
        near = np.concatenate([edges, np.nextafter(edges, -9), np.nextafter(edges, 9)])
        check(counted_between, backend, near, n, -0.3, 1.7)
        check(counted_between, backend, near.astype(np.float32), n, -0.3, 1.7)
        check(counted, backend, near, n)


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int32, np.int64])
def test_weights(backend, kind):
    a = rng.random((20, 30))
    w = rng.integers(-50, 50, a.shape).astype(kind)  # sums are exact in any order
    check(weighted, backend, a, 9, w)
    check(weighted, backend, a[:, ::-2], 9, w[:, ::2])
    check(weighted, backend, a[0], 9, w[0])
    check(weighted, backend, a[0, :0], 9, w[0, :0])


def test_weights_of_many_elements_are_added_in_blocks():
    a, w = rng.random(200_000), rng.random(200_000)
    check(weighted, "cpu", a, 11, w)
    check(weighted, "cpu", a, 11, w.astype(np.float32))
    check(weighted, "cpu", a, 3, (w * 100).astype(np.int64))


@pytest.mark.parametrize("backend", BACKENDS)
def test_results_in_other_arrays(backend):
    a, w = rng.standard_normal(200), rng.integers(0, 9, 200).astype(float)
    got, want = [(np.zeros(6, int), np.zeros(6), np.zeros(7)) for _ in range(2)]
    stored(a, w, *want, seq=True)
    run(backend, stored, (a, w, *got), {})
    for found, expected in zip(got, want, strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("backend", TARGETS)
def test_special_values(backend):
    a = np.array([0.2, np.nan, 0.4, np.inf, -np.inf, 0.7, -0.0, 0.2])
    check(counted_between, backend, a, 10, 0.1, 0.7)
    check(counted_between, backend, a, 4, 0.2, 0.2)
    check(counted, backend, np.array([3, 3, 3]), 4)
    check(counted, backend, np.array([-(2**63), 2**63 - 1, 5]), 3)
    check(counted_between, backend, np.float32([0.1, 0.2]), 3, np.float64(0.1), np.float64(0.2))


FAULTS = (
    (counted, (np.array([1.0, np.nan]), 4)),
    (counted, (np.array([1.0, np.inf]), 4)),
    (counted, (np.array([1.0, 2.0]), 0)),
    (counted, (np.array([1.0, np.nextafter(1.0, 2)]), 10)),
    (counted, (np.array([0.0, 5e-324]), 3)),
    (counted_between, (np.ones(4), 3, 0.7, 0.1)),
    (counted_between, (np.ones(4), 3, 0.7, np.inf)),
    (weighted, (np.ones(4), 3, np.ones(5))),
)


@pytest.mark.parametrize(("function", "given"), FAULTS)
def test_errors_are_those_of_numpy(function, given):
    with pytest.raises(ValueError) as want:
        function(*given, seq=True)
    with pytest.raises(ValueError) as got:
        function(*given, opts=parpy.auto(backend=CompileBackend.Cpu))
    assert str(got.value) == str(want.value)


@pytest.mark.filterwarnings("ignore:Converting input from bool:RuntimeWarning")
def test_numpy_counts_the_others():
    opts = parpy.auto(backend=CompileBackend.Cpu)
    a = rng.random(30)
    for function, given in (
        (counted, (a > 0.5, 3)),
        (counted, (a.astype(np.float16), 3)),
        (counted, (a, np.array([0, 0.25, 1]))),
        (weighted, (a, np.array([0, 0.25, 1]), a)),
        (weighted, (a, 4, a * 1j)),
    ):
        fresh = parpy.jit(function.__wrapped__)  # whose calls Python makes from now on
        for found, expected in zip(fresh(*given, opts=opts), function(*given, seq=True), strict=True):
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)


def test_compiled_code_counts():
    text = parpy.print_compiled(weighted, (rng.random(50), 7, rng.random(50)), parpy.auto(backend=CompileBackend.Cpu))
    assert "bin_of" in text and "// returns: (f64[1], f64[1])\n" in text
