"""Names of parts of arrays and arrays that expressions make, in compiled code: views, in-place updates, temporaries of
iterations, and these as arguments of helpers, against Python."""

from __future__ import annotations

import re

import numpy as np
import pytest

import parpy
from backends import BACKENDS, copies, run

rng = np.random.default_rng(18)


@parpy.jit
def dot(a, b):
    s = 0.0
    for k in range(a.shape[0]):
        s += a[k] * b[k]
    return s


@parpy.jit
def first_of_last(a, n):
    if n == 0:
        return a[0]
    return first_of_last(a[1:], n - 1)


def rows(x, out, y):
    parpy.label("N")
    for i in range(x.shape[0]):
        r = x[i]
        s = 0.0
        for k in range(len(r)):
            s += r[k] * r[-1]
        out[i] = s


def parts(x, out, y):
    parpy.label("N")
    for i in range(x.shape[0]):
        r = x[i, 1:-1]
        q = r[::2]
        q[0] = 7.0
        q += 1.0
        back = q[::-1]
        out[i] = r[2] + q[-1] + back[0] + q.shape[0] + back.size + r.ndim


def added_axes(x, out, y):
    parpy.label("N")
    for i in range(x.shape[0]):
        r = x[i]
        column = r[:, None]
        table = column * r[None, :]
        out[i] = table[1, 2] + column[3, 0] + table.shape[1]


def particles(x, out, y):
    parpy.label("N")
    for i in range(x.shape[0]):
        f = x[i] * 0.0
        for j in range(x.shape[0]):
            d = x[j] - x[i]
            f += d * parpy.sum(d[:])
        y[i] = f


def exchanged(x, out, y):
    parpy.label("N")
    for i in range(x.shape[0]):
        t = x[i] * 2
        parpy.label("M")
        y[i, :] = t[::-1]
        out[i] = t[0]


def growing(x, out, y):
    parpy.label("N")
    for i in range(1, x.shape[1]):
        t = x[0, :i] * 2
        y[0, i] = parpy.sum(t)


def conditional(x, out, y):
    parpy.label("N")
    for i in range(x.shape[0]):
        if i % 2:  # noqa: SIM108
            r = x[i]
        else:
            r = x[0]
        out[i] = r[3]


def replaced(x, out, y):
    t = x[0] * 1.0
    for i in range(4):
        t = t * 0.5 + x[1]
    t += 1.0
    x[0] = t
    x += 2
    x[1:] -= x[:-1]


def while_condition(x, out, y):
    i = 0
    r = x[0]
    while r[0] > -1.0 and i < x.shape[0]:
        r = x[i]
        out[i] = r[1]
        i += 1


def gathered(x, out, y):
    r = x[0, 2:]
    for i in range(out.shape[0]):
        out[i] = r[int(y[0, i]) % 5]
    q = r[1:4]
    out[0] = q[-2]


def arguments(x, out, y):
    parpy.label("N")
    for i in range(x.shape[0]):
        r = x[i]
        t = r[1:4] * 2.0
        out[i] = dot(r, x[0]) + dot(x[i, 1:4], r[2:5]) + dot(t, x[i, ::3]) + dot(r * 2.0, y[i])
        out[i] += first_of_last(x[i], 2)


def made(x, out, y):
    parpy.label("N")
    for i in range(x.shape[0]):
        f = np.zeros(9)
        for k in range(9):
            f[k] = x[i, k] + f[8 - k]
        parpy.label("M")
        y[i, :] = f[::-1]
        g = np.full_like(x[i], 2.5)
        g += np.copy(f)
        h = np.empty((2, 3), dtype=np.float32)
        h[:] = 1
        h[1] *= 3
        out[i] = g[1] + h[1, 2] + np.sum(np.ones(x.shape[1], np.int64))


def made_at_times(x, out, y):
    for i in range(out.shape[0]):
        if i % 2 == 0:
            t = np.zeros(2)
        t[0] += x[i, 0]
        out[i] = t[0]


PROGRAMS = [
    rows, parts, added_axes, particles, exchanged, growing, conditional, replaced, while_condition, gathered, arguments,
    made, made_at_times,
]  # fmt: skip


@pytest.mark.parametrize(
    "mapping",
    [{}, {"N": 5}, {"N": 5, "M": 64}, {"N": 5, "M": parpy.threads(64).tpb(32)}],
    ids=["host", "outer", "both", "blocks"],
)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", BACKENDS)
def test_as_python(backend, function, mapping):
    given = rng.random((5, 9)), np.zeros(5), rng.random((5, 9))
    mapping = {name: n for name, n in mapping.items() if f'"{name}"' in parpy.jit(function).__parpy_source__.text}
    want, got = copies(given), copies(given)
    function(*want)
    run(backend, parpy.jit(function), got, mapping)
    for a, b in zip(want, got, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@parpy.jit
def particles_apart(pos, out):
    for i in range(len(pos)):
        f = np.zeros(3)
        for j in range(len(pos)):
            if i != j:
                f += pos[j] - pos[i]
        out[i] = f


def test_arrays_of_iterations_leave_the_loop_parallel():
    many = rng.random((2000, 3))
    text = parpy.print_compiled(particles_apart, (many, many.copy()), parpy.CompileOptions(automatic=True))
    assert "parpy_parallel_for" in text and re.search(r"double f\w*\[3\];", text)
    pos = rng.random((20, 3))
    out, want = np.zeros_like(pos), np.zeros_like(pos)
    particles_apart(pos, out)
    particles_apart(pos, want, seq=True)
    np.testing.assert_allclose(out, want, rtol=1e-12, atol=1e-12)


@parpy.jit
def updated_between(x):
    y = np.zeros_like(x)
    y += 1
    x[:] = y
    return y


def test_an_update_of_an_array_that_python_made():
    x = np.zeros(4)
    y = updated_between(x)
    assert y.tolist() == x.tolist() == [1] * 4


@parpy.jit
def unknown_size(x, k):
    for i in range(x.shape[0]):
        t = np.zeros(k[i])
        x[i] = t.shape[0]


def test_sizes_that_are_not_known_are_pythons():
    x = np.zeros(3)
    unknown_size(x, np.array([2, 0, 5]))
    assert x.tolist() == [2, 0, 5]


@parpy.jit
def reversed_again(a, n):
    v = a[n::-1]
    for i in range(1):
        v[i % v.shape[0]] += 2.0
        v[n - i - 1 - n + i] += 3.0


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_falling_part_of_a_reversed_array(backend):
    for size, n in ((1, 0), (5, 3)):
        got, want = np.arange(float(size))[::-1], np.arange(float(size))[::-1]
        run(backend, reversed_again, (got, n), {})
        reversed_again(want, n, seq=True)
        assert got.tolist() == want.tolist()


@parpy.jit
def copied_and_converted(x, y):
    before = x.copy()
    x[1:] += before[:-1]
    z = x.astype(np.float32)
    y[:] = z.copy() * 2
    for i in range(x.shape[0]):
        y[i] += before.astype(int).sum() if i == 0 else 0
    return z, before.astype("i4"), (x > 1).astype(x.dtype)


@pytest.mark.parametrize("backend", ["cpu", "sim"])
def test_methods_that_copy(backend):
    given = np.arange(5.0), np.zeros(5)
    want, got = copies(given), copies(given)
    expected = copied_and_converted(*want, seq=True)
    results = copied_and_converted(
        *got, opts=parpy.CompileOptions(backend=parpy.CompileBackend(backend), automatic=True)
    )
    for a, b in zip([*want, *expected], [*got, *results], strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@parpy.jit
def deviations(x):
    return np.std(x, axis=0), np.var(x, axis=1, keepdims=True), x.std() + np.var(x[1:] * 2)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "c16"])
@pytest.mark.parametrize("backend", ["cpu", "sim"])
def test_deviations(backend, dtype):
    x = (rng.random((4, 5)) * 9).astype(dtype)
    results = deviations(x, opts=parpy.CompileOptions(backend=parpy.CompileBackend(backend), automatic=True))
    for a, b in zip(results, deviations(x, seq=True), strict=True):
        assert np.shape(a) == np.shape(b) and np.asarray(a).dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-5)
