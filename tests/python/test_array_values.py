"""Names of parts of arrays and arrays that expressions make, in compiled code: views, in-place updates, temporaries of
iterations, and both as arguments of helpers, against Python."""

from __future__ import annotations

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


PROGRAMS = [
    rows, parts, added_axes, particles, exchanged, growing, conditional, replaced, while_condition, gathered, arguments,
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
