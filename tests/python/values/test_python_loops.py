"""Else branches of loops, `in`, loops over tuples and lists, and Python's functions of elements, against Python."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import BACKENDS, copies, run
from parpy import cuda
from parpy.frontend.parse import parse


def where_found(x, out, n):
    parpy.label("N")
    for r in range(x.shape[0]):
        for i in range(n):
            if x[r, i] == 3:
                out[r] = i
                break
        else:
            out[r] = -1


def without_break(x, out, n):
    parpy.label("N")
    for r in range(x.shape[0]):
        out[r] = x[r, 0]
        for i in range(n):
            if i % 2:
                continue
            out[r] += i
        else:
            out[r] *= 2
    else:
        with parpy.gpu:
            out[0] -= 5


def of_while(x, out, n):
    i, k = 0, 0
    while i < n:
        if x[0, i] == 9:
            break
        if x[0, i] % 2:
            i += 2
            continue
        i += 1
    else:
        k = 100
    out[0] = i + k
    while k < 5 and x[1, k] != 0:
        k += 1
    else:
        out[1] = k
    while True:
        k += 1
        if k > 7:
            break
    else:
        out[1] = -1


def nested(x, out, n):
    count = 0
    for r in range(x.shape[0]):
        for i in range(n):
            if x[r, i] == 3:
                break
        else:
            if r > 1:
                break
            count += 10
            continue
        count += 1
    else:
        count += 1000
    out[0] = count
    for v in x[0]:
        for w in x[1]:
            if v == w:
                break
        else:
            continue
        out[1] = v
        break
    else:
        out[1] = -1


def returns(x, out, n):
    for r in range(x.shape[0]):
        for i in range(n):
            if x[r, i] == 7:
                out[0] = r
                return
            if x[r, i] == 3:
                break
        else:
            out[1] = r
            return
    else:
        out[2] = 1
    out[3] = 1


def only_in_else(x, out, n):
    for i in range(n):
        last = x[0, i]
        for _ in range(2):
            break
        else:
            out[1] = 1
    else:
        last = -1
        while True:
            out[2] += 1
            if out[2] > 3:
                break
    out[0] = last


ELSE = [where_found, without_break, of_while, nested, returns, only_in_else]
ROWS = {
    "first": [[3, 1, 2, 4], [3, 3, 3, 3], [3, 0, 0, 0], [3, 9, 9, 9]],
    "last": [[1, 1, 2, 3], [0, 0, 0, 3], [4, 4, 4, 3], [9, 9, 9, 3]],
    "none": [[1, 1, 2, 4], [5, 5, 5, 5], [6, 6, 7, 6], [2, 2, 2, 2]],
    "some": [[1, 9, 3, 4], [0, 3, 1, 3], [1, 1, 1, 1], [2, 7, 2, 2]],
}


@pytest.mark.parametrize("n", [4, 1, 0])
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("function", ELSE, ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", BACKENDS)
def test_else_branches(backend, function, rows, n):
    given = np.array(ROWS[rows]), np.zeros(4, int), n
    for mapping in [{}, {"N": 4}] if function in (where_found, without_break) else [{}]:
        want, got = copies(given), copies(given)
        function(*want)
        run(backend, parpy.jit(function), got, mapping)
        assert got[1].tolist() == want[1].tolist()


def scaled(x):
    for i in range(x.shape[0]):
        x[i] *= 2
    else:
        x[0] = 7


def test_a_loop_without_break_runs_in_parallel():
    x = np.ones(100_000)
    assert "parpy_parallel_for" in parpy.print_compiled(parpy.jit(scaled), (x,))
    assert "left_by_break" not in parse(parpy.jit(scaled)).module.text()


@parpy.jit
def place(x, v):
    for i in range(x.shape[0]):
        if x[i] == v:
            k = i
            break
    else:
        return -1.0
    return k * 10.0


def test_in_functions_that_are_called():
    def places(x, out):
        for v in range(4):
            out[v] = place(x, v)

    out = np.zeros(4)
    parpy.jit(places)(np.array([2, 0, 2, 3]), out)
    assert out.tolist() == [10, -1, 0, 30]


def test_what_an_else_branch_reads_lives_beside_what_python_runs():
    def made(n, k):
        a = 1.0
        for i in range(n):
            x = np.zeros(n)
            for j in range(3):
                if j == k:
                    break
            else:
                x[1] = a
            a = a + 1
            x[0] = i
        return x

    for k in (1, 5):
        assert parpy.jit(made)(3, k).tolist() == made(3, k).tolist()


def test_bounds_and_steps_are_evaluated_once(monkeypatch):
    def strided(x, n):
        s = 0
        for i in range(0, n, step(x)):
            s += i
        for i in range(x[0], n * step(x), step(x)):
            s += i
        for i in range(n, (n := n + 7), (k := 2)):
            s += i
        return s, n, k

    want, got = np.array([0, 2]), np.array([0, 2])
    expected = strided(want, 9)
    monkeypatch.setitem(globals(), "step", parpy.jit(step))
    assert parpy.jit(strided)(got, 9) == expected
    assert got.tolist() == want.tolist()


NUMBERS = (1, -2.5, 7)
EMPTY = ()


def in_literals(x, out, n):
    for i in range(x.shape[0]):
        out[i] = (x[i] in (1, 2, n)) + 2 * (x[i] not in [3, -0.5]) + 4 * (n in (x[i], 1.0))
        if x[i] in (1, 2) or x[i] in {n, 0.0}:
            out[i] += 100
        out[i] += 1000 * ((x[i] in NUMBERS) + (x[i] in (*NUMBERS, 2)))


def in_arrays(x, out, n):
    out[0] = (n in x) + (1 in x) + 10 * (2 not in x)
    out[1] = (n in x[1:]) + 2 * (n in EMPTY)
    out[2] = 2.0 in x * 2
    k = 0
    while k in x and k not in (3, n):
        k += 1
    out[3] = k if -0.5 in x else -k


def step(out):
    out[0] += 1
    return out[0]


def each_once(x, out, n):
    out[1] = step(out) in (2, n, 1)
    out[2] = step(out) in x


@pytest.mark.parametrize("items", [[1, 2, 3, -0.5], [0, 1, 2, 7], [np.nan, 1, 0, np.inf], [5, -2.5, 4, 3]])
@pytest.mark.parametrize("function", [in_literals, in_arrays, each_once], ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", BACKENDS)
def test_in(backend, function, items, monkeypatch):
    monkeypatch.setitem(globals(), "step", step if function is not each_once else parpy.jit(step))
    for dtype in (np.float64, np.float32):
        given = np.array(items, dtype), np.zeros(4), 2
        want, got = copies(given), copies(given)
        function(*want)
        run(backend, parpy.jit(function), got, {})
        assert got[1].tolist() == want[1].tolist()


@pytest.mark.parametrize("backend", BACKENDS)
def test_in_arrays_of_other_kinds(backend):
    def found(b, m, e, z, out):
        out[0] = (True in b) + (3 in m) + (1 in e) + (1 + 2j in z) + (300 in b)

    given = np.zeros(3, bool), np.arange(6, dtype=np.int8).reshape(2, 3), np.zeros(0), np.array([1 + 2j]), np.zeros(1)
    want, got = copies(given), copies(given)
    found(*want)
    run(backend, parpy.jit(found), got, {})
    assert got[4].tolist() == want[4].tolist() == [2]


def progressions(x, out, n):
    for d in (-1, 0, 1):
        out[d + 1] = x[2 + d] * d
    out[3] += d
    for d in [5, 3, 1]:
        out[3] = out[3] * 10 + d
    for d in (n,):
        out[0] += d
    for d in (2**62, -(2**62), 2**63 - 1):
        out[1] += d // 3**30
    for d in ():
        out[0] = 1
    else:
        out[2] += 2


def constants(x, out, n):
    for d in (0.25, -3, 1e300):
        for e in [7, 2, 2]:
            if d * e > 1e200:
                continue
            out[0] += d * e
    for d in (True, False, 5):
        out[1] = out[1] * 10 + d
    for d in (1, 2, 4, 8):
        if d == n:
            break
        out[2] += d
    else:
        out[2] = -1
    for d in (np.float32(0.1), 2**-1):
        out[3] += d


def values(x, out, n):
    for d in (n, x[0], n + 2, -x[1]):
        out[0] = out[0] * 10 + d
        n = 50
        x[0] = 100
        x[1] = 100
    for d in [x[0] + n, x[1]]:
        out[1] = out[1] * 2 + d
    out[2] = d


PAIRS = ((1, 0), (0, 1), (-1, 2))


def pairs(x, out, n):
    for dx, dy in ((1, 0), (0, 1), (-1, 0), (0, -1)):
        out[2 + dx] += x[1 + dy]
    for p, (q, r) in [(1, (n, 3)), (4, (5, x[0]))]:
        out[0] = out[0] * 3 + p * q - r
    for p, q in PAIRS:
        for r in NUMBERS:
            out[1] += p * q + r
    for p in (*NUMBERS, *EMPTY, 9):
        out[2] = out[2] * 2 + p


def counted(x, out, n):
    for i, d in enumerate((3, 1, 2)):
        out[i] += d * i
    for i, (p, q) in enumerate(PAIRS, n):
        out[3] += i * p + q
    for d, v in zip((1, 2, 7, 9, 11), x, strict=False):
        out[0] += d * v
    for p, q in reversed(PAIRS):
        out[1] = out[1] * 2 + p - q
    for d in reversed([n, 4, 3]):
        out[2] = out[2] * 2 + d


def in_parallel(x, out, n):
    parpy.label("N")
    for i in range(4):
        for d in (-1, 0, 1):
            if 0 <= i + d < 4:
                out[i] += x[i + d]
        for d, w in ((1, 0.5), (2, 0.25)):
            out[i] += w * x[(i + d) % 4]


ITEMS = [progressions, constants, values, pairs, counted, in_parallel]


@pytest.mark.parametrize("function", ITEMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", BACKENDS)
def test_loops_over_tuples(backend, function):
    for mapping in [{}, {"N": 4}] if function is in_parallel else [{}]:
        given = np.array([1.5, -2.0, 3.0, 7.0]), np.zeros(4), 2
        want, got = copies(given), copies(given)
        function(*want)
        run(backend, parpy.jit(function), got, mapping)
        assert got[1].tolist() == want[1].tolist()


def test_items_are_evaluated_once_in_their_order():
    def stepped(out):
        for d in (step(out), 7, step(out)):
            out[1] = out[1] * 10 + d

    want, got = np.zeros(2), np.zeros(2)
    stepped(want)
    module = {"step": parpy.jit(step)}
    parpy.jit(type(stepped)(stepped.__code__, module))(got)
    assert got.tolist() == want.tolist() == [2, 172]


def test_a_tuple_that_is_bound_anew(monkeypatch):
    def total(out):
        for d in NUMBERS:
            out[0] += d

    out, compiled = np.zeros(1), parpy.jit(total)
    compiled(out)
    monkeypatch.setitem(globals(), "NUMBERS", (100, 200))
    compiled(out)
    assert out[0] == 305.5


def test_integers_at_equal_distances_are_computed():
    def sums(x, out):
        for i in range(1, x.shape[0] - 1):
            for d in (-1, 0, 1):
                out[i] += x[i + d]

    text = parpy.print_compiled(parpy.jit(sums), (np.ones(100_000), np.zeros(100_000)))
    assert "parpy_parallel_for" in text
    assert "d = d_number + -1;" in text


def test_kernels_loop_over_tuples():
    @cuda.jit
    def kernel(x, n):
        i = cuda.grid(1)
        for d in (1, 5, 2):
            x[i] = x[i] * 10 + d
        for p, q in PAIRS:
            x[i] += p * q + 0.5
        for v in (x[i], n):
            x[i] += v

    x = np.zeros(3)
    cuda.sim.enabled = True
    try:
        kernel[1, 3](x, 100)
    finally:
        cuda.sim.enabled = False
    assert x.tolist() == [2 * 151.5 + 100] * 3


def extremes(x, y, out, n):
    out[0] = max(x) - min(x) * 10
    if max(x[1:]) > n or min(y[0]) < 0:
        out[1] = max(x * 2 - n)
    out[2] = max((n, x[1], 2)) + min(NUMBERS) + 100 * max([*NUMBERS, 8])
    for i in range(3):
        out[3] = out[3] * 10 + max(y[:, i]) if i != n else min(y[i - 1])


def totals(x, y, out, n):
    out[0] = sum(x) + sum(x[1:3], 5) + sum(x[:0], start=n)
    out[1] = sum(NUMBERS) + sum([n, x[2]], 2.5) + sum(()) + sum(y[0] > 1)
    k = 0
    while sum(y[:, 0]) + k < 20:
        k += max(y[1])
    out[2] = k


def spreads(x, y, out, n):
    out[0] = np.ptp(x) + 10 * np.ptp(y)
    out[1:] = np.ptp(y, axis=0)
    out[1] += np.count_nonzero(x > n) + 10 * np.count_nonzero(y)
    out[2:] += np.count_nonzero(y > 2, axis=1)


FOLDS = [extremes, totals, spreads]


@pytest.mark.parametrize("items", [[1, 2, 3, -0.5], [np.nan, 1, 4, 2], [1, np.nan, 3, 2], [3, 2, 1, np.nan]])
@pytest.mark.parametrize("function", FOLDS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", BACKENDS)
def test_functions_of_elements(backend, function, items):
    for dtype in (np.float64, np.float32):
        given = np.array(items, dtype), np.array([[0, 7, 2], [4, 4, -5]], np.int16), np.zeros(4), 2
        want, got = copies(given), copies(given)
        function(*want)
        run(backend, parpy.jit(function), got, {})
        assert str(got[2].tolist()) == str(want[2].tolist())


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.bool_, np.float16, np.float32, np.complex64])
def test_types_of_sums(dtype):
    @parpy.jit
    def total(x):
        return sum(x)

    x = np.ones(200, dtype)
    with np.errstate(over="ignore"):
        assert total(x) == sum(x)
    assert total(x[:0]) == 0


def test_the_largest_of_nothing():
    @parpy.jit
    def largest(x):
        return max(x)

    with pytest.raises(ValueError, match="max: the array has no elements"):
        largest(np.zeros(0))


def filled(x, y, out, n):
    out.fill(n)
    y[:, 1].fill(x[1] + max(x))
    y[0, 1:].fill(3)
    row = y[1]
    if n > 1:
        row.fill(-n)
    made = x * 2
    made.fill(sum(x))
    out[1] = made[3] + x[3]
    x[:].fill(0.5)


@pytest.mark.parametrize("backend", BACKENDS)
def test_fill(backend):
    for n in (1, 2):
        given = np.arange(4.0), np.zeros((2, 3), np.int16), np.zeros(4), n
        want, got = copies(given), copies(given)
        filled(*want)
        run(backend, parpy.jit(filled), got, {})
        assert [each.tolist() for each in got[:3]] == [each.tolist() for each in want[:3]]


@pytest.mark.parametrize("backend", BACKENDS)
def test_fill_has_labels(backend):
    def cleared(x):
        parpy.label("i")
        parpy.label("j")
        x.fill(3)

    x = np.zeros((5, 6), np.float32)
    run(backend, parpy.jit(cleared), (x,), {"i": 5, "j": 6})
    assert (x == 3).all()


@pytest.mark.parametrize("backend", BACKENDS)
def test_functions_of_rows_in_parallel(backend):
    def ranges(x, out):
        parpy.label("N")
        for i in range(x.shape[0]):
            out[i] = max(x[i]) - min(x[i]) + sum(x[i]) + (2 in x[i])

    x = np.arange(12.0).reshape(4, 3)
    want, got = np.zeros(4), np.zeros(4)
    ranges(x, want)
    run(backend, parpy.jit(ranges), (x, got), {"N": 4})
    assert got.tolist() == want.tolist()
