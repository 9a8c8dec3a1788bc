"""Tuples, None and shapes as values of compiled functions, against Python."""

from __future__ import annotations

import re

import numpy as np
import pytest

import parpy
from backends import BACKENDS, TARGETS, copies, options, run

DIRECTIONS = ((0, 1), (1, 0), (0, -1), (-1, 0))
WEIGHTS = (0.5, 2.0, 4.0)


def swapped(p):
    return p[1], p[0]


def norm(p):
    return (p[0] * p[0] + p[1] * p[1]) ** 0.5


def moved(p, step=(1.0, 0.0), scale=None):
    if scale is None:
        return p[0] + step[0], p[1] + step[1]
    return p[0] + step[0] * scale, p[1] + step[1] * scale


def first_above(x, limit):
    for i in range(len(x)):
        if x[i] > limit:
            return i, x[i]
    return -1, limit


@parpy.jit
def names(x, y, n):
    p = (x[0], n)
    q = p
    p = swapped(p)
    y[0] = p[0] + 10 * q[0]
    a, (b, c) = 1, swapped(q)
    y[1] = a + 10 * b + 100 * c
    p, q = q, p
    y[2] = p[0] - q[0]
    r = (*p, n) + (a,) * 2
    y[3] = len(r) + r[-1] + r[n - n]
    (d, e), f = (r[1], r[2]), r[3:]
    y[4] = d + e + f[0] + len(f)
    p += (7,)
    y[5] = p[2]


@parpy.jit
def arguments(x, y, n):
    parpy.label("i")
    for i in range(x.shape[0]):
        p = moved((x[i], n))
        p = moved(p, (i, 2), 3)
        p = moved(p, scale=2)
        y[i] = norm(p) + moved(p)[0]


@parpy.jit
def searched(x, y, n):
    parpy.label("i")
    for i in range(y.shape[0]):
        at, value = first_above(x, i * 0.5)
        y[i] = at * 10 + value if at >= 0 else -1


@parpy.jit
def shapes(x, y, n):
    shape = x.shape
    y[0] = shape[0] + len(shape)
    y[1] = max(shape) + sum((1, *shape))
    y[2] = x.shape == y.shape
    y[3] = (shape[0], 1) != (x.shape[0], n)
    y[4] = (shape[0] in shape) + (n in (1, 2)) + (n not in shape)


@parpy.jit
def none(x, y, n):
    best = None
    for_all = 0.0
    y[0] = best is None
    best = x[0]
    y[1] = 1 if best is not None and best > 0 else 2
    t = (None, n)
    y[2] = t[1] if t[0] is None else 7
    y[4] = t[0] is not None or x[1] > 0
    y[3] = for_all


@parpy.jit
def global_tuples(x, y, n):
    for d in DIRECTIONS:
        y[d[0] + 1] += d[1] * x[0]
    for i in range(len(DIRECTIONS)):
        dx, dy = DIRECTIONS[i % 2]
        y[3] += dx * 2 + dy
    weights = WEIGHTS
    for i in range(3):
        y[4] += weights[i] * x[i] + WEIGHTS[i]
    y[5] = sum(weights) + max(WEIGHTS) + WEIGHTS[-1] + WEIGHTS[1:][0]


@parpy.jit
def loops_over_names(x, y, n):
    bounds = (1, n, 4)
    for b in bounds:
        y[0] += b
    for k, b in enumerate(bounds):
        y[1] += k * b
    ends = (n, 2)
    for i in range(*(0, 3)) if False else range(ends[1]):
        y[2] += i
    y[3] = 4 in bounds


@parpy.jit
def arrays_in_tuples(x, y, n):
    pair = (x, y)
    pair[1][0] = pair[0][1]
    a, b = pair
    b[1] = a[2]
    parts = (x[1:], y[2:])
    parpy.label("i")
    for i in range(3):
        parts[1][i] = parts[0][i] * 2
    parts[1][3] += len(parts[0])


@parpy.jit
def elements_taken_apart(x, y, n):
    a, b = x[1:3]
    y[0], y[1] = y[2], a
    y[1], y[0] = y[0:2]
    y[2] = b
    y[:2], m = y[1:3], y[:2] + 1
    y[1:3], y[2:4] = y[2:4], y[1:3]
    y[2] += m[0]
    q, r = divmod(n, 2)
    y[3], y[4] = divmod(q + 7, 3)
    y[5] = divmod(n, 2)[1] + r


@parpy.jit
def in_loops(x, y, n):
    for d in ((1, 2), (n, 4)):
        y[3] += d[0] * d[1]
    pairs = ((1, 2), (n, 4), (x[0], 3))
    for d in pairs:
        y[4] += d[0] * d[1]
    for a, b in pairs:
        y[5] += a - b
    best = (0, x[0])
    for i in range(len(x)):
        if x[i] > best[1]:
            best = (i, x[i])
    y[0], y[1] = best
    t = (0, 1)
    while t[1] < 50:
        t = (t[1], t[0] + t[1])
    y[2] = t[0]


PROGRAMS = [
    names, arguments, searched, shapes, none, global_tuples, arrays_in_tuples, elements_taken_apart, in_loops,
]  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_programs_are_those_of_python(backend, program):
    for n in (1, 3):
        x, y = np.array([0.5, 2.0, -1.0, 3.0, 1.5]), np.array([0.25, 1, 2, 3, 4, 5])
        want = copies((x, y, n))
        program.__wrapped__(*want)
        run(backend, program, (x, y, n), {})
        np.testing.assert_allclose(y, want[1], rtol=1e-14)


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("program", [arguments, searched], ids=lambda f: f.__name__)
def test_loops_with_tuples_are_parallel(backend, program):
    x, y = np.array([0.5, 2.0, -1.0, 3.0, 1.5]), np.zeros(6)
    if program is arguments:
        y = y[:5]
    want = copies((x, y, 2))
    program.__wrapped__(*want)
    program(x, y, 2, opts=options(backend, {"i": 8}))
    np.testing.assert_allclose(y, want[1], rtol=1e-14)


@parpy.jit
def returned(x, n):
    if n > 2:
        return (x[0], (n, None)), x.shape
    return (x[1], (len(x), None)), (n,)


@parpy.jit
def returned_by_another(x, n):
    return swapped((returned_number(x), n))


def returned_number(x):
    if x[0] > 2:
        return x[0]
    return x[1]


@parpy.jit
def returns_a_name(x, n):
    t = (n, x[0])
    t = swapped(t)
    return t


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("program", [returned, returned_by_another, returns_a_name], ids=lambda f: f.__name__)
def test_results_are_put_together_as_in_python(backend, program):
    x = np.array([0.5, 2.0, 3.0])
    for n in (1, 3):
        got, want = program(x, n, opts=options(backend, {})), program.__wrapped__(x, n)
        assert got == want
        shown = [re.sub(r"np\.float64\((.*?)\)", r"\1", str(each)) for each in (got, want)]
        assert shown[0] == shown[1]


@parpy.jit
def made_of_shapes(x, n):
    shape = (n, *x.shape)
    z = np.zeros(shape)
    z[1:, ...] = x
    z[..., 1] += 1
    return z.reshape((shape[0] * shape[1],)), shape


@pytest.mark.parametrize("backend", TARGETS)
def test_arrays_are_made_of_shapes(backend):
    x = np.arange(3.0)
    got, want = made_of_shapes(x, 2, opts=options(backend, {})), made_of_shapes.__wrapped__(x, 2)
    assert got[0].tolist() == want[0].tolist()
    assert got[1] == want[1]


def three(n):
    return n, n, n


def grows(t, n):
    return 0 if n == 0 else grows((t, 1), n - 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x[0] = divmod(n, 2)", r"P204\]: a tuple of 2 elements is used as a number"),
        ("a, b, c = divmod(n, 2)", r"P017\]: 2 values cannot be assigned to 3 targets"),
        ("a, b = three(n)", r"P017\]: 3 values cannot be assigned to 2 targets"),
        ("a, (b, c) = 1, 2", r"P017\]: a number cannot be unpacked"),
        ("x[0, ..., ...] = 1", r"P025\]: '...' occurs twice among the subscripts"),
        ("t = (1, 2)\nx[0] = t + 1", r"P204\]: the tuple 't' is used as a number"),
        ("t = (1, 2)\nx[0] = t[2]", r"P025\]: the tuple 't' has no element 2"),
        ("t = ((1, 2), 3)\nx[0] = t[0][5]", r"P025\]: the tuple 't\[0\]' has no element 5"),
        ("t = (1, 2)\nx[0] = t[n]", None),
        ("t = ((1, 2), 3)\nx[0] = t[n]", r"P025\]: the subscript of a tuple whose elements have different kinds"),
        ("t = (1, 2)\nt[0] = 3", r"P016\]: 't' is a tuple, which cannot be changed"),
        ("t = (1, 2)\nif x[0] > 1:\n    t = 3\nx[0] = t", r"P217\]: 't' is a tuple, a number or None"),
        ("t = None\nx[0] = t + 1", r"P204\]: 't' is None here, but is used as a number"),
        ("t = None\nx[0] = t[0]", r"P204\]: 't' is None here"),
        ("if (1, (2, 3)) < (n, 3):\n    x[0] = 1", r"P011\]: tuples can be ordered only if all of their"),
        ("if (1, 2) == x:\n    x[0] = 1", r"P204\]: a tuple is compared with an array"),
        ("x[0] = (1, 2).shape[0]", r"P026\]: only whole arrays have a shape"),
        ("t = (1, 2)\nx[0] = t.shape[0]", r"P204\]: 't' is a tuple of 2 elements, which has no shape"),
        ("x[0] = grows((1, 2), n)", r"P022\]: 'grows'"),
        ("t = (1, 2)\nx[0] = t['a']", r"P104\]: 't' has a string subscript but is neither a dict"),
    ],
)
def test_mistakes(text, message):
    lines = "".join(f"    {line}\n" for line in text.split("\n"))
    source = f"def f(x, n):\n{lines}"
    name = f"<tuples {hash(text)}>"
    import linecache

    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace = {"np": np, "three": three, "grows": grows}
    exec(compile(source, name, "exec"), namespace)
    function = parpy.jit(namespace["f"])
    if message is None:
        function(np.zeros(3), 1)
        return
    with pytest.raises(parpy.CompileError, match=message):
        function(np.zeros((3,)), 1, opts=parpy.par({}))


# ------------------------------------------------------------ arguments of calls from Python


@parpy.jit
def given(x, p, scale=None, *, shift=(0, 0)):
    first, second = p
    if scale is not None:
        first = first * scale
    x[0] += first + shift[1]
    return (first, second), len(p), shift


@parpy.jit
def with_python_parts(x, p):
    y = np.zeros(x.shape)
    shape = x.shape
    t = (shape[0], p[1])
    for i in range(t[0]):
        y[i] = x[i] * p[0][0] + t[1]
    return y, t, p[1]


@pytest.mark.parametrize("backend", TARGETS)
def test_tuples_and_none_are_arguments(backend):
    opts = options(backend, {})
    for p in ((1.5, 2), (3, (4, 5)), (np.float32(2), None), (2, (np.arange(3.0), 1))):
        for more in ({}, {"scale": 3}, {"shift": (1, 2)}, {"scale": None, "shift": (1.5, (2, 3)[0])}):
            x, y = np.ones(3), np.ones(3)
            got, want = given(x, p, **more, opts=opts), given.__wrapped__(y, p, **more)
            assert x[0] == y[0]
            assert got[0][0] == want[0][0]
            assert type(got[0][0]) is type(want[0][0])
            assert str(got[0][1:] + got[1:]) == str(want[0][1:] + want[1:])
    x = np.arange(3.0)
    got, want = with_python_parts(x, ((2, 3), 4), opts=opts), with_python_parts.__wrapped__(x, ((2, 3), 4))
    assert (got[0] == want[0]).all()
    assert got[1:] == want[1:]


def test_what_tuples_as_arguments_are_not():
    with pytest.raises(parpy.CompileError, match=r"P204\]: 'p' is None here"):
        given(np.ones(3), None)
    with pytest.raises(parpy.CompileError, match=r"P017\]: 3 values cannot be assigned to 2 targets"):
        given(np.ones(3), (1, 2, 3))
    with pytest.raises(parpy.CompileError, match=r"P204\]: 'first' is the string 'a', but is used as a number"):
        given(np.ones(3), ("a", 2))
    with_python_parts(np.ones(3), ((1, 2), 3))
    text = parpy.print_compiled(parpy.jit(least), (np.ones(3), None))
    assert "// returns: f64?\n" in text
    assert parpy.compile_string("least", text)(np.array([2.0, 1, 3]), None) == 1


# ------------------------------------------------------------ values that may be None


def least(x, n):
    best = None
    for v in x:
        if best is None or v < best:
            best = v
    return best


def place_above(x, n):
    for i in range(len(x)):
        if x[i] > n:
            return i
    return None


def places(x, n):
    k, m = place_above(x, n), place_above(x, 100)
    after = 0 if k is None else k + 1
    t = (k, m)
    return after, k == 2, m == 2, m != k, 1 if k else 2, t[0], t[1] is None


def last_of_rising(x, n):
    last = None
    k = 0
    while k < len(x) and k < n:
        if last is not None and last > x[k]:
            k += 1
            continue
        if x[k] > 10:
            break
        last = x[k]
        k += 1
    total = 0.0
    if last:
        total += last
    return last, total


def after(x, n):
    return place_above(x, n) + 1


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("program", [least, place_above, places, last_of_rising], ids=lambda f: f.__name__)
def test_values_that_may_be_none(backend, program):
    compiled = parpy.jit(program)
    for x in (np.array([0.5, -3, 2.5, 1.5]), np.array([0.0, 12, 3]), np.zeros(0)):
        for n in (0, 1, 2, 4, 9):
            got, want = compiled(x, n, opts=options(backend, {})), program(x, n)
            assert got == want
            assert (got is None) == (want is None)


@pytest.mark.parametrize("backend", TARGETS)
def test_none_is_used_as_a_number(backend):
    compiled = parpy.jit(after)
    assert compiled(np.array([0.5, 3]), 2, opts=options(backend, {})) == 2
    with pytest.raises(TypeError, match=r"P434\]: .*None, but is used as a number"):
        compiled(np.array([0.5, 3]), 9, opts=options(backend, {}))


# ------------------------------------------------------------ generator expressions


def generated(x, n):
    i = 7
    s = sum(x[i] * 2 for i in range(n))
    t = sum((a * b for a, b in zip(x, x, strict=False) if a > 1), 10)
    u = max(abs(v) for v in x), min([v - i for v in x])
    w = any(x[i] > 2 and x[j] < 1 for i in range(n) for j in range(i)), all(v < 2 for v in x), any(x), all((1, n))
    return s, t, u, w, i


def by_key(x, n):
    i = 7
    a = max(range(n), key=lambda i: abs(x[i]))
    b = min(x, key=abs)
    c = max(2, -5, n, key=lambda v: v * v)
    d = min((x[0], x[1]), key=lambda v: -v)
    return a, b, c, d, i


@pytest.mark.parametrize("backend", TARGETS)
def test_keys(backend):
    compiled = parpy.jit(by_key)
    for x in ([0.5, -3.0, 2.5, 3.0], [np.nan, 1.0, -1.0, 0.0], [1.0, np.nan, -1.0, -0.0], [0.0, -0.0, 0.0, 0.0]):
        got, want = compiled(np.array(x), 4, opts=options(backend, {})), by_key(np.array(x), 4)
        np.testing.assert_array_equal(got, want)
        assert np.signbit(got[1]) == np.signbit(want[1])
    with pytest.raises(ValueError, match="max: there are no values"):
        compiled(np.zeros(2), 0, opts=options(backend, {}))


def over_arrays(x, n):
    s, parts = 0.0, (x, x[1:], x[::-1])
    for k in range(len(parts)):
        s = s * 2 + parts[k][0] * k
    for i, part in enumerate(parts):
        part[i] += s
        if part[0] > 100:
            return i, s, k
    return -1, s, k


def counter_is_assigned(parts):
    s = 0.0
    for k in range(len(parts)):
        s += parts[k].sum()
        k = 7
        s += k
    return s, k


@pytest.mark.parametrize("backend", TARGETS)
def test_loops_over_tuples_of_arrays(backend):
    for first in (1.0, 200.0):
        x, y = np.array([first, 2.0, 4.0, 8.0]), np.array([first, 2.0, 4.0, 8.0])
        assert parpy.jit(over_arrays)(x, 3, opts=options(backend, {})) == over_arrays(y, 3)
        np.testing.assert_array_equal(x, y)
        parts = np.arange(3.0), np.arange(1.0, 4.0)
        assert parpy.jit(counter_is_assigned)(parts, opts=options(backend, {})) == counter_is_assigned(parts)


@parpy.jit
def sums_of_rows(x, out):
    parpy.label("i")
    for i in range(len(out)):
        out[i] = sum(x[i, j] for j in range(x.shape[1]))


@pytest.mark.parametrize("backend", TARGETS)
def test_generator_expressions(backend):
    x = np.array([0.5, -3, 2.5, 1.5])
    for n in (0, 2, 4):
        assert parpy.jit(generated)(x, n, opts=options(backend, {})) == generated(x, n)
    with pytest.raises(ValueError, match="max: there are no values"):
        parpy.jit(generated)(np.zeros(0), 0, opts=options(backend, {}))
    out = np.zeros(3)
    sums_of_rows(np.ones((3, 4)), out, opts=options(backend, {"i": 4}))
    assert out.tolist() == [4, 4, 4]
