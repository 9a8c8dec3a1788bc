"""Helpers whose statements read slices of the arrays that they overwrite."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import BACKENDS, options, run


@parpy.jit
def smooth(x):
    x[1:-1] = (x[2:] - x[:-2]) / 2


@parpy.jit
def twice(x):
    smooth(x)
    smooth(x)


@parpy.jit
def every_row(a, n):
    parpy.label("n")
    for i in range(a.shape[0]):
        for _ in range(n):
            smooth(a[i])
        a[i, 0] = n


@parpy.jit
def of_planes(z, n):
    parpy.label("n")
    for i in range(z.shape[0]):
        for j in range(n):
            twice(z[i, :, j])


@parpy.jit
def shift(a, b):
    a[1:] = b[:-1] + a[1:]


@parpy.jit
def under_two_names(a, n):
    parpy.label("n")
    for i in range(n):
        shift(a[i], a[i])


def before_and_less(x, s):
    y = x + 1
    x[:] = y - s
    return y, s


@parpy.jit
def turned(a, b, s):
    parpy.label("i")
    for i in range(a.shape[0]):
        row, t = before_and_less(a[i], s)
        parpy.label("j")
        b[i, :] = row[::-1] * t


@parpy.jit
def unless_empty(x, n):
    if n == 0:
        return 0
    x[1:-1] = x[2:] - x[:-2]
    if n > 1:
        return n + unless_empty(x, n - 1)
    return 1


@parpy.jit
def of_a_recursive_one(a, y):
    parpy.label("n")
    for i in range(a.shape[0]):
        y[i] = unless_empty(a[i], 3)


CASES = {
    every_row: lambda r: (r.random((5, 20)), 3),
    of_planes: lambda r: (r.random((4, 9, 3)), 3),
    under_two_names: lambda r: (r.random((5, 33)), 5),
    of_a_recursive_one: lambda r: (r.random((6, 17)), np.zeros(6)),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("loops", [{}, {"n": 4}], ids=["sequential", "mapped"])
@pytest.mark.parametrize("function", CASES)
def test_overlap_in_helpers(function, loops, backend):
    if backend == "cuda" and not loops:
        pytest.skip("the host has no arrays")
    got, want = CASES[function](np.random.default_rng(0)), CASES[function](np.random.default_rng(0))
    function(*want, seq=True)
    run(backend, function, got, loops if loops or backend != "sim" else {"n": 1})
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b)


@parpy.jit
def on_the_host(x):
    twice(x)


def test_host_code_that_calls_a_helper():
    for n in (3, 4, 50, 5, 60, 70, 80, 1000):  # sizes of the call, then any size
        got, want = np.arange(float(n)), np.arange(float(n))
        on_the_host(got, opts=options("cpu", {}))
        on_the_host(want, seq=True)
        np.testing.assert_allclose(got, want)


def test_too_many_values_in_a_recursive_function():
    a, y = np.zeros((2, 100_000)), np.zeros(2)
    with pytest.raises(
        parpy.CompileError, match=r"P227.*that it also overwrites, and a function that is called has no memory"
    ) as error:
        of_a_recursive_one(a, y, opts=parpy.par({}))
    assert "x[1:-1] = x[2:] - x[:-2]" in str(error.value)
    assert "pass another array for the values" in str(error.value)


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_thread_has_an_array_that_one_loop_fills_beside_others(backend):
    a = np.arange(14.0).reshape(2, 7)
    want = a + 1
    b, before = np.zeros_like(a), a.copy()
    run(backend, turned, (a, b, 0.5), {"i": 32, "j": 64})
    assert np.array_equal(a, before + 0.5)
    assert np.array_equal(b, want[:, ::-1] * 0.5)


@parpy.jit
def turn(o, a, b):
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])


def rows_under_conditions(pts, k, out):
    """Rows that are only read if the conditions before them hold."""
    n = 0
    while n + 2 < len(pts) and turn(pts[n], pts[n + 1], pts[n + 2]) > -0.5:
        n += 1
    out[0] = n
    for i in range(1, len(out)):
        if i < 2 or turn(pts[i - 2], pts[i - 1], pts[i]) > 0:
            out[i] += 1.0
        out[i] += turn(pts[k[i]], pts[i - 1], pts[i]) if k[i] >= 0 else -1.0


@pytest.mark.parametrize("backend", BACKENDS)
def test_rows_under_conditions(backend):
    rng = np.random.default_rng(3)
    pts, k = rng.random((9, 2)), np.array([0, -1, 3, 8, -1, 2, 0])
    got, want = np.zeros(7), np.zeros(7)
    run(backend, parpy.jit(rows_under_conditions), (pts, k, got), {})
    rows_under_conditions(pts, k, want)
    np.testing.assert_allclose(got, want, rtol=1e-12)
