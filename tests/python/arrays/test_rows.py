"""Rows of arrays as arguments of helpers: `h(x[i])`, `h(z[i, :, k])`."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options


@parpy.jit
def increment(x):
    for i in range(x.shape[0]):
        x[i] += 1


@parpy.jit
def total(x, m):
    s = 0.0
    for j in range(m):
        s += x[j]
    return s


@parpy.jit
def normalise(x, y):
    y[:] = x[:] / parpy.sum(x[:])


@parpy.jit
def plane(x):
    for i in range(len(x)):
        increment(x[i])
    x[0, 1:] = x[-1, :-1]


@parpy.jit
def rows(x, y):
    parpy.label("n")
    for i in range(x.shape[0]):
        increment(x[i])
        parpy.builtin.inline(normalise(x[i, :], y[i]))
        y[i, 0] = total(x[i], x.shape[1]) + total(y[i][:], 2)


@parpy.jit
def planes(z, last):
    parpy.label("n")
    for i in range(z.shape[0]):
        plane(z[i])
        z[i, 0, 0] += total(z[i][1], 2) + total(z[i, :, -1], z.shape[1])
        last[i] = total(z[-1 - i, -1], 1)


@parpy.jit
def add_half(a, b):
    for j in range(b.shape[0]):
        b[j] += a[j] / 2


@parpy.jit
def shifted(x):
    parpy.label("n")
    for i in range(1, x.shape[0]):
        add_half(x[i - 1], x[i])


CASES = {
    rows: lambda r: (r.random((5, 7)), np.zeros((5, 7))),
    planes: lambda r: (r.random((4, 3, 6)), np.zeros(4)),
    shifted: lambda r: (r.random((6, 4)),),
}


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("function", CASES)
def test_rows(function, backend):
    mapped = options(backend, {"n": 4} if function is rows else {})
    for opts in (mapped, parpy.auto(backend=parpy.CompileBackend(backend))):
        got, want = CASES[function](np.random.default_rng(0)), CASES[function](np.random.default_rng(0))
        with np.errstate(all="ignore"):
            function(*want, seq=True)
        function(*got, opts=opts)
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


def test_iterations_over_rows_are_judged():
    x, y = np.ones((5, 7)), np.zeros((5, 7))
    strict = options("cpu", {"n": 4})
    strict.legality = "strict"
    rows(x, y, opts=strict)
    with pytest.raises(parpy.ParallelError, match=r"writes x\[1, 0\], iteration i=2, j=0 reads x\[1, 0\]"):
        shifted(np.ones((5, 7)), opts=options("cpu", {"n": 4}))
    with pytest.raises(parpy.ParallelError):
        planes(np.ones((4, 3, 6)), np.zeros(4), opts=options("cpu", {"n": 4}))


@parpy.jit
def beyond(x):
    for i in range(x.shape[0] + 1):
        increment(x[i])


def test_rows_out_of_bounds():
    x = np.zeros((3, 4))
    with pytest.raises(IndexError, match="subscript 3 is out of bounds for axis 0 of 'x'"):
        beyond(x)
    assert not x.any()


N, M = parpy.types.symbol("N"), parpy.types.symbol("M")


@parpy.jit
def mark(r: parpy.types.buffer(parpy.types.F64, [N])):
    parpy.label("j")
    for j in range(N):
        r[j] += 10 * N + j


@parpy.jit
def mark_plane(p: parpy.types.buffer(parpy.types.F64, [N, M])):
    for j in range(N):
        for k in range(M):
            p[j, k] += 100 * N + 10 * M + k


@parpy.jit
def mark_rows(x, z, idx):
    parpy.label("i")
    for i in range(idx.shape[0]):
        mark(x[idx[i]])
        mark(z[idx[i], :, 1])
        mark_plane(z[idx[i]])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("mapping", [{"i": 2}, {"i": 2, "j": 32}])
def test_symbols_are_the_extents_of_rows(target, mapping):
    for shape in ((2, 5), (5, 2), (3, 3)):
        x, z, idx = np.zeros(shape), np.zeros((shape[0], 4, 7)), np.arange(shape[0])
        want, plane = x.copy(), z.copy()
        mark_rows(want, plane, idx, seq=True)
        mark_rows(x, z, idx, opts=options(target, mapping))
        np.testing.assert_array_equal(x, want)
        np.testing.assert_array_equal(z, plane)
