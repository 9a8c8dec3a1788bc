"""Python calls the functions of NumPy that compiled code does not know, between compiled parts."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import parpy
from backends import BACKENDS, TARGETS, options, run

rng = np.random.default_rng(3)


def regular(n):
    return rng.random((n, n)) + n * np.eye(n)


@parpy.jit
def solved(a, b):
    c = a * 2
    x = np.linalg.solve(c, b)
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i] += c[i, i]
    return x, np.linalg.det(a), np.linalg.inv(c) @ b


@pytest.mark.parametrize("opts", [None, parpy.par({"i": parpy.threads(2)}, backend=parpy.CompileBackend.Cpu)])
def test_between_compiled_parts(opts):
    a, b = regular(4), rng.random(4)
    for got, want in zip(solved(a, b, opts=opts), solved(a, b, seq=True), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)


@parpy.jit
def in_loops(a, y, k):
    total = 0.0
    for i in range(a.shape[0]):
        scaled = a[i] * (i + 1)
        values = np.linalg.eigvalsh(scaled + scaled.T)
        if values[0] > 0:
            total += values.sum()
        y[i] = values[-1]
    np.add.at(y, k, 1.0)
    return total, np.fft.fft(y).real


@pytest.mark.filterwarnings("ignore:.*P315")
def test_in_loops_that_python_runs():
    a, k = np.stack([regular(3) for _ in range(4)]), np.array([0, 2, 2])
    got, want = np.zeros(4), np.zeros(4)
    results, wanted = in_loops(a, got, k), in_loops(a, want, k, seq=True)
    np.testing.assert_allclose(got, want, rtol=1e-12)
    for ours, theirs in zip(results, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def helper(a, b):
    return np.linalg.solve(a, b) * 2


@parpy.jit
def through_a_function(a, b):
    x = helper(a, b)
    return x + 1


def test_in_functions_that_are_called():
    a, b = regular(4), rng.random(4)
    np.testing.assert_allclose(through_a_function(a, b), helper(a, b) + 1, rtol=1e-12)


def test_other_counts_of_arguments_than_the_library_takes():
    @parpy.jit
    def f(x):
        return np.repeat(x, 2, axis=1) * 2

    x = rng.random((2, 3))
    np.testing.assert_array_equal(f(x), np.repeat(x, 2, axis=1) * 2)


def test_exceptions_are_numpys():
    with pytest.raises(np.linalg.LinAlgError):
        solved(np.zeros((2, 2)), np.ones(2))


def test_explaining_runs_nothing():
    a, b = np.zeros((2, 2)), np.ones(2)  # solve would raise an error for them
    before = a.copy(), b.copy()
    text = parpy.print_compiled(solved, (a, b))
    assert "solved(c, x)" in text
    np.testing.assert_array_equal(a, before[0])
    y = np.zeros(3)
    parpy.print_compiled(stored, (y, np.array([0, 0])))
    assert (y == 0).all()


@parpy.jit
def stored(y, k):
    np.add.at(y, k, 1.0)
    y *= 2


@parpy.jit
def mapped(a, b, x):
    parpy.label("i")
    for i in range(a.shape[0]):
        x[i] = np.linalg.solve(a[i], b[i])


def test_loops_that_are_mapped_by_hand_are_refused():
    arguments = np.stack([regular(3)] * 2), np.ones((2, 3)), np.zeros((2, 3))
    with pytest.raises(parpy.CompileError, match="P303"):
        mapped(*arguments, opts=parpy.par({"i": parpy.threads(2)}, backend=parpy.CompileBackend.Cpu))
    with pytest.warns(parpy.PerformanceWarning, match=r"(?s)P315.*Python runs this loop.*'np.linalg.solve'"):
        mapped(*arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mapped(*arguments)


@parpy.jit
def plane(n, m):
    i, j = np.mgrid[0:n, 0:m]
    k = np.r_[0.5, np.arange(float(m))[1:]]
    z = np.zeros((n, m))
    for a in range(n):
        for b in range(m):
            z[a, b] = i[a, b] * 10 + j[a, b] + k[b]
    return z


def test_grids():
    np.testing.assert_array_equal(plane(3, 4), plane(3, 4, seq=True))


def filled(x, out):
    for i in range(3):
        out[1:].fill(i + 0.5)
        out[0] += out[1:].sum() + x[i]
    out[3:].fill(x[1])


def bounds(x, out):
    out[:3] = x.clip(min=1) + np.clip(x, None, 2) * 10 + np.clip(x, a_max=2, a_min=1) * 100 + x.clip(1, max=1.5) * 1000
    for i in range(3):
        out[3] += np.clip(x[i], 1, None)


def lists_of_numbers(x, out):
    for i in range(3):
        out[i] = np.interp(x[i], [0, 1, 2.5], [1, 3, 5]) + np.polyval([1, 2, 3], x[i])
        out[3] += np.searchsorted([0, 1], x[i]) + np.isin(x, [1, 2]).sum()


def converted(x, out):
    out[:3] = x.astype(dtype=np.float32) + x.copy(order="C") + x.flatten(order="C")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("function", [filled, bounds, lists_of_numbers, converted])
def test_methods_keywords_and_lists_of_numbers(backend, function, dtype):
    x, want, got = np.arange(3).astype(dtype), np.zeros(4), np.zeros(4)
    function(x, want)
    run(backend, parpy.jit(function), (x, got), {})
    np.testing.assert_allclose(got, want, rtol=1e-6)


def stored_ranges(n):
    table = np.zeros((4, 4), dtype=int)
    table[0] = range(4)
    table[:, 0] = range(0, 8, 2)
    table[1, 1:] = range(3, 0, -1)
    for i in range(2):
        table[2 + i, :n] = range(i, i + n)
    return table


@pytest.mark.parametrize("backend", TARGETS)
def test_ranges_are_stored_as_arrays(backend):
    for n in (0, 2, 4):
        got = parpy.jit(stored_ranges)(n, opts=options(backend, {}))
        np.testing.assert_array_equal(got, stored_ranges(n))


def by_python(x):
    y = x.astype(np.float64, copy=False)
    y += 1
    return y, x.reshape(-1, order="F"), x.view(np.uint8), x.tobytes(), x.repeat(2)


@pytest.mark.parametrize("dtype", ["float64", "int64", "float32"])
def test_what_python_converts(dtype):
    x = np.arange(6).reshape(2, 3).astype(dtype)
    given = x.copy()
    want, got = by_python(x), parpy.jit(by_python)(given)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(given, x)
