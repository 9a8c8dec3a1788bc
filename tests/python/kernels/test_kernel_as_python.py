"""Views, tuples and records in kernels have Python's meaning: programs run as both, on one thread."""

from __future__ import annotations

import linecache
import math

import numpy as np
import pytest

import kernel_places
from parpy import cuda

backend = kernel_places.backend
RECORD = np.dtype([("x", np.float64), ("n", np.int64), ("v", np.float64, 3)], align=True)


def matrix():
    return np.arange(24.0).reshape(4, 6).copy(), np.zeros(12)


def records():
    made = [(i + 0.5, i * 3 % 5, (i, i + 1, i + 2)) for i in range(5)]
    return np.array(made, RECORD).view(np.recarray), np.zeros(12)


class Python:
    """The names of parpy.cuda that the programs use, for one thread."""

    class local:
        @staticmethod
        def array(shape, dtype):
            made = np.zeros(shape, dtype)
            return made.view(np.recarray) if made.dtype.names else made

    class atomic:
        @staticmethod
        def add(array, index, value):
            array[index] += value

    @staticmethod
    def jit(function=None, **_):
        return function or (lambda found: found)


PROGRAMS = {
    "alias": (
        "matrix",
        """
@cuda.jit(device=True)
def rec(a,b):
    for j in range(len(a)):
        a[j] = b[j] + 1
@cuda.jit
def kernel(x,o):
    rec(x[0,1:], x[0,:-1])
    rec(x[1], x[0])
    rec(x[:,0], x[:,1])
    rec(o[1:], o)
""",
    ),
    "order": (
        "matrix",
        """
@cuda.jit(device=True)
def bump(o):
    o[0] += 1
    return o[0]
@cuda.jit(device=True)
def g(a, row, b):
    return a*100 + row[0]*10 + b
@cuda.jit(device=True)
def t(p, row, b):
    return p[0]*1000 + p[1]*100 + row[0]*10 + b
@cuda.jit
def kernel(x,o):
    o[1] = g(bump(o), x[int(o[0])], bump(o))
    o[2] = g(b=bump(o), row=x[int(o[0])], a=bump(o))
    o[3] = t((bump(o), o[0]), x[int(o[0]) - 4], bump(o))
    o[4] = o[0] + g(1, x[int(bump(o)) - 7], o[0])
""",
    ),
    "while": (
        "matrix",
        """
@cuda.jit(device=True)
def find(row, v):
    for j in range(len(row)):
        if row[j] == v:
            return j, True
    return -1, False
@cuda.jit
def kernel(x,o):
    part = x[1:, 2:5]
    i = 0
    while i < len(part) and part[i][0] < 15 and find(part[i], 14)[0] < 0:
        i += 1
    o[0] = i
    j = -1
    while part[j, 0] > 10:
        j -= 1
        if j < -3:
            break
    o[1] = j
    for q in range(find(x[2], 15)[0], find(x[2][1:], 17)[0]):
        o[2] += q
    o[3] = 1 if find(x[0], 3)[1] or find(x[1], 99)[1] else 0
    o[4] = find(x[3], 20)[0] if o[0] > 0 else find(x[3], 21)[0]
""",
    ),
    "nest": (
        "matrix",
        """
@cuda.jit(device=True)
def mean_dev(row):
    m = 0.0
    for j in range(len(row)):
        m += row[j]
    m /= len(row)
    s = 0.0
    for j in range(len(row)):
        d = row[j] - m
        s += d*d
    return m, math.sqrt(s / len(row))
@cuda.jit(device=True)
def two(x, i):
    m, s = mean_dev(x[i])
    n, t = mean_dev(x[i, ::2])
    return m + n, s + t, i
@cuda.jit
def kernel(x,o):
    for i in range(4):
        m, s, _ = two(x, i)
        o[i] += m
        o[i + 4] += s
    a = two(x, 0)
    b = a
    a = two(x, 1)
    o[9] = a[0] - b[0]
    o[10] = len(a) + b[2]
    m = 5
    o[11] = m
""",
    ),
    "params": (
        "matrix",
        """
@cuda.jit(device=True)
def f(a, b):
    a = a + 1
    b = b * 2
    a, b = b, a
    return a, b
@cuda.jit(device=True)
def h(row, i):
    row = row[i:]
    i = i + 1
    row[0] = i
    return row[0] + len(row), i
@cuda.jit
def kernel(x,o):
    a, b = 3, 4
    o[0], o[1] = f(b, a)
    o[2], o[3] = a, b
    a, b = f(a, b)
    o[4], o[5] = a, b
    i = 2
    row = x[1]
    u, v = h(row, i)
    o[6], o[7], o[8], o[9] = u, v, i, len(row)
    o[10] = row[2]
""",
    ),
    "loopview": (
        "matrix",
        """
@cuda.jit
def kernel(x,o):
    for i in range(4):
        row = x[i]
        for j in range(i, 6):
            part = row[j:]
            o[i] += part[0] * len(part)
            if j == 4:
                continue
            part[-1] += 1
    last = x[-1]
    o[5] = last[-2]
    k = 3
    while k > 0:
        k -= 1
        cell = x[k:k+1, 1:3]
        o[6] += cell[0, 1] + cell.shape[0] * 10 + cell.shape[1] * 100
""",
    ),
    "neg": (
        "matrix",
        """
@cuda.jit
def kernel(x,o):
    i = -2
    row = x[i]
    col = x[:, i]
    part = x[-3:-1, -4:]
    o[0] = row[i] + row[-1]
    o[1] = col[i] + col[0]
    for a in range(-2, 2):
        for b in range(-4, 4):
            o[2] += part[a, b] * (a + 3 + b)
    e = x[3:1]
    o[3] = len(e) + e.shape[1]
    f = x[10:20, 2:100]
    o[4] = len(f) + f.shape[1] * 10
    g = row[1:-1:2]
    o[5] = len(g)
    o[6] = g[-1] + g[0]
    h = x[::3]
    o[7] = h[1, 2] + len(h)
    o[8] = h[-1][-1]
""",
    ),
    "rec": (
        "records",
        """
@cuda.jit(device=True)
def upd(p, d):
    old = p.x
    p.x += d
    p.v[1] = old
    return old, p.n
@cuda.jit(device=True)
def tot(r):
    s = 0.0
    for i in range(len(r)):
        p = r[i]
        s += p.x * p.n + p.v[2]
    return s
@cuda.jit
def kernel(r,o):
    for i in range(len(r)):
        p = r[i]
        if p.n > 2:
            q = r[i - 1]
            q.n += 1
            o[i], o[i+1] = upd(q, i)
    o[6] = tot(r)
    a, b = r[0], r[1]
    a.x, b.x = b.x, a.x
    w = r[2].v
    w[0] = 5
    o[7] = len(w)
    t = cuda.local.array(3, RECORD)
    for i in range(3):
        t[i].x = i
        t[i].n = 2 * i
        t[i].v[2] = 1
    o[8] = tot(t)
    o[9], o[10] = upd(t[1], 5)
    o[11] = t[1].x + t[1].v[1]
""",
    ),
    "mix": (
        "matrix",
        """
@cuda.jit(device=True)
def at(x, p, q=(0, 1)):
    return x[p] + x[q[0], q[1]]
@cuda.jit
def kernel(x,o):
    p = (1, 2)
    o[0] = at(x, p, (2, 3))
    for i in range(3):
        p = (p[1], i)
        o[1] += x[p]
    o[2] = at(x[1:, 1:], p, p)
    cuda.atomic.add(x, p, 4)
    cuda.atomic.add(x[2], 3, 4)
    cuda.atomic.add(x[1:, 2:], (1, -1), 7)
    y = x[:, 2:4]
    y[:] += 1
    y[0, :] = 9
    y[1:, 0] = 8
    x[3, 3:] *= 2
""",
    ),
    "early": (
        "matrix",
        """
@cuda.jit(device=True)
def cls(a, b):
    if a < 0:
        if b < 0:
            return 0, a
        b += 1
    else:
        for i in range(5):
            for j in range(5):
                if i * j == a:
                    return i, j
                if i * j > b:
                    break
            if i > b:
                return -i, b
    return b, a
@cuda.jit
def kernel(x,o):
    n = 0
    for a in range(-2, 10):
        for b in range(-2, 6):
            u, v = cls(a, b)
            n = n * 3 + u * 7 + v
            n = n % 10007
    o[0] = n
""",
    ),
    "slices": (
        "matrix",
        """
@cuda.jit(device=True)
def bump(o):
    o[0] += 1
    return o[0]
@cuda.jit(device=True)
def total(r):
    s = 0.0
    for j in range(len(r)):
        s += r[j]
    return s
@cuda.jit(device=True)
def ends(r):
    r[0] += 1
    return r[0], r[-1]
@cuda.jit
def kernel(x,o):
    o[1], o[2] = total(x[0, 1:]), total(x[1:, 0])
    o[3] = total(x[1, 2:]) + ends(x[1, 2:])[0] + total(x[1, 2:])
    o[4] = x[2, 1:][0] + ends(x[2, 1:])[1] + x[2, 1:][0]
    x[int(bump(o)), 1:][int(bump(o))] = total(o[:2]) + bump(o)
    o[5] = o[0:1][0] * 100 + bump(o)
    o[6] = max(total(x[3, :2]), total(x[2, ::2]))
    o[7], x[3, 5], o[8] = ends(x[3, 3:])[0], total(x[3, 3:]), x[3][4]
    a, b = total(x[0, :]), 3
    o[9] = a if total(x[0, 1:3]) > b else b
    x[0, 1:][0] += total(x[0, 1:])
    o[10] = total(x[0, 1:]) < total(x[1, 1:]) < total(x[2, 1:])
""",
    ),
}


def kernel_of(text, name, library):
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names = {"cuda": library, "np": np, "math": math, "RECORD": RECORD}
    exec(compile(text, name, "exec"), names)
    return names["kernel"]


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_as_python(name, debug):
    data, text = PROGRAMS[name]
    if debug:
        text = text.replace("@cuda.jit\ndef kernel(", "@cuda.jit(debug=True)\ndef kernel(")
    want, got = globals()[data](), globals()[data]()
    kernel_of(text, f"<{name} in Python>", Python)(*want)
    kernel_of(text, f"<{name} {debug}>", cuda)[1, 1](*got)
    cuda.synchronize()
    for one, other in zip(got, want, strict=True):
        for field in one.dtype.names or (...,):
            np.testing.assert_allclose(one[field], other[field], rtol=1e-13)  # a GPU rounds a * b + c once
