"""Masks and outer products in statements over slices."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import BACKENDS, copies, run
from fresh_functions import CPU


@parpy.jit
def clipped(x, limit):
    parpy.label("i")
    x[x[:] > limit] = limit
    parpy.label("i")
    x[(x[:] < 0.2) | (x[:] == limit)] += 10
    parpy.label("i")
    x[~(x[:] < 5) & (x[:] > 1)] *= 2


@parpy.jit
def diagonal(a, b, n):
    parpy.label("i")
    parpy.label("j")
    a[b[:, :] == 0] = n


@parpy.jit
def outer(a, x, y, z):
    parpy.label("i")
    parpy.label("j")
    a[:, :] += np.outer(x, y[1:])
    parpy.label("i")
    parpy.label("j")
    a[:, :] -= np.outer(z[0, :], y[:-1])


@parpy.jit
def rows(a, b, x):
    parpy.label("i")
    for i in range(a.shape[0]):
        a[i] = 2 * b[i] + x
        a[i] += b[i, ...] * parpy.sum(b[i])
    parpy.label("i")
    parpy.label("j")
    b[...] = a[...] + a


@parpy.jit
def planes(c, x):
    parpy.label("i")
    for i in range(c.shape[0]):
        c[i] = 2 * c[i] + x[i]
        c[i, 1] = 0


CASES = {
    "rows": (rows, lambda r: (r.random((6, 7)), r.random((6, 7)), r.random(7))),
    "planes": (planes, lambda r: (r.random((5, 4, 4)), r.random(5))),
    "clipped": (clipped, lambda r: (r.random(50), 0.7)),
    "diagonal": (diagonal, lambda r: (r.random((6, 7)), r.integers(0, 2, (6, 7)), 3)),
    "outer": (outer, lambda r: (r.random((6, 7)), r.random(6), r.random(8), r.random((2, 6)))),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_as_numpy(backend, case):
    function, make = CASES[case]
    arguments = make(np.random.default_rng(3))
    want = copies(arguments)
    function(*want, seq=True)
    run(backend, function, arguments, {"i": 8} | ({"j": 8} if case in ("diagonal", "outer", "rows") else {}))
    for a, b in zip(arguments, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-15)


def test_outer_products_of_matrices():
    @parpy.jit
    def g(x, y):
        x[:, :] = np.outer(x[:, :], y)

    with pytest.raises(parpy.CompileError, match="of one dimension"):
        g(np.ones((3, 3)), np.ones(3), opts=CPU)


@parpy.jit
def ufuncs_into(x, y, z, m):
    parpy.label("i")
    np.multiply(x, y, z)
    parpy.label("i")
    np.add(z, 1, out=x)
    parpy.label("i")
    np.sqrt(np.abs(y), y[:])
    parpy.label("i")
    np.logical_not(m, m)
    for i in range(2):
        parpy.label("i")
        np.maximum(x[i:], 0.5, out=x[i:])


@pytest.mark.parametrize("backend", BACKENDS)
def test_ufuncs_store_to_an_array(backend):
    rng = np.random.default_rng(5)
    ours = [*(rng.random(9) - 0.5 for _ in "xyz"), rng.random(9) > 0.5]
    numpys = [each.copy() for each in ours]
    run(backend, ufuncs_into, tuple(ours), {"i": 4})
    ufuncs_into(*numpys, seq=True)
    for got, want in zip(ours, numpys, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-14)


def centered_or(x, y, out, c):
    for k in range(2):
        out[k] = y if y[k, 0] > c else x - x.sum(axis=0)
        out[k] += y if y[k, 0] < c else x / x.mean(axis=1)[:, None]


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_sum_of_a_chosen_value_is_computed_once(backend):
    rng = np.random.default_rng(4)
    given = rng.random((3, 4)), rng.random((3, 4)), np.zeros((2, 3, 4)), 0.5
    got, want = copies(given), copies(given)
    run(backend, parpy.jit(centered_or), got, {})
    centered_or(*want)
    np.testing.assert_allclose(got[2], want[2], rtol=1e-12)
    text = parpy.print_compiled(parpy.jit(centered_or), given, CPU)
    assert "- sum" not in text  # which a nest around the sum would subtract


def shapes(a, x, out):
    n, m = a.T.shape
    out[0] = n * 100 + m
    out[1] = (a + x).shape[1] + a[1:].shape[0] * 10 + (-a).ndim * 100
    out[2] = a.T.size + a.T[1:].shape[0] * 10 + a[0].shape[0] * 100
    for i in range(a.T.shape[0]):
        out[3] += a.T[i, 0] * a[:, i].shape[0]
    out[4] = a.T.shape[-1] + (a > 0).size * 10


@pytest.mark.parametrize("backend", BACKENDS)
def test_shapes_of_expressions(backend):
    a, x = np.random.default_rng(5).random((3, 4)), np.ones(4)
    got, want = np.zeros(5), np.zeros(5)
    shapes(a, x, want)
    run(backend, parpy.jit(shapes), (a, x, got), {})
    np.testing.assert_allclose(got, want, rtol=1e-13)
