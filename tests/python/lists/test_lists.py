"""Lists: np.array of list displays, lists of subscripts, lists that are only read, and those that Python
keeps."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest

import parpy
from backends import TARGETS, options
from parpy.host.driver import driver_of
from parpy.syntax.names import source_of
from results import same


def check(function: Any, make: Any, backend: str) -> None:
    ours, pythons = make(), make()
    got, want = parpy.jit(function)(*ours, opts=options(backend, {})), function(*pythons)
    assert same(got, want), (got, want)
    assert same(ours, pythons)


# ------------------------------------------------------------ np.array


def of_numbers(x, k):
    a, b = x[0], x[1]
    return np.array([a + b, k, 2.5]), np.array([1, k]), np.array((True, k > 0)), np.array([k, 1j]), np.array([x[0]])


def of_rows(x, k):
    rotation = np.array([[x[0], -x[1]], [x[1], x[0]]])
    return rotation @ x[:2], np.array([x, x * 2]), np.array([[1, 2, 3], [4, k, 6]]), np.array([(x[0], k), (k, 1)])


def of_types(x, k):
    return np.array([k, 2], dtype=np.float32), np.array([x[0], 2.5], "int16"), np.array([0, k], dtype=float)


def of_one_value(x, k):
    t = (x[0], k)
    y = np.array(x)
    y[0] = 7
    return np.array(t), y, x[0]


def right_side(state, sigma):
    x, y, z = state
    return np.array([sigma * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])


def in_loops(x, k):
    out = np.zeros((4, 3))
    state = np.array([1.0, 1.0, 1.05])
    for i in range(4):
        half = state + 0.005 * right_side(state, 10.0)
        state = state + 0.01 * right_side(half, 10.0)
        out[i] = state
    return out


def of_each_row(x, k):
    rows = np.zeros((5, 2))
    parpy.label("i")
    for i in range(5):
        v = np.array([i + x[0], k])
        w = np.array([v, v * 2])
        rows[i] = w[1] - w[0][::-1]
    return rows


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize(
    "function", [of_numbers, of_rows, of_types, of_one_value, in_loops, of_each_row], ids=lambda f: f.__name__
)
def test_arrays_of_values(function, backend):
    for dtype in ("f8", "f4", "i4", "c16"):
        if dtype == "c16" and function is not of_numbers:
            continue
        check(function, lambda dtype=dtype: (np.arange(3, 6).astype(dtype), 2), backend)


@pytest.mark.parametrize("backend", TARGETS)
def test_in_a_mapped_loop(backend):
    x, compiled = np.arange(3.0), parpy.jit(of_each_row)
    mapped = {"i": parpy.threads(5)}
    assert same(compiled(x, 2, opts=options(backend, mapped)), of_each_row(x, 2))


def test_python_runs_no_part():
    for function in (of_numbers, of_rows, of_types, right_side, swapped, stencil):
        assert driver_of(source_of(function)) is None


def rows_of_different_sizes(x, y):
    return np.array([x, y])


def nested_unevenly(x, k):
    return np.array([(x[0], k), (k, 1, 2)])


def test_shapes_that_differ():
    with pytest.raises(ValueError, match=r"P433\]: an array is made of parts with 3 and 1 elements"):
        parpy.jit(rows_of_different_sizes)(np.zeros(3), np.zeros(1))
    with pytest.raises(parpy.CompileError, match=r"P204\]: the elements of this array have different shapes"):
        parpy.jit(nested_unevenly)(np.zeros(3), 1)


def of_entries(d, k):
    return np.array([[d["a"][0] + 0.5, k], [d["a"][1], d["a"][2]]])


@pytest.mark.parametrize("backend", TARGETS)
def test_entries_of_dicts(backend):
    assert driver_of(source_of(of_entries)) is None
    check(of_entries, lambda: ({"a": np.arange(3.0)}, 2), backend)


def texts_and_nothing(x, k):
    names, nothing = np.array(["a", "b"]), np.array([])
    return names.size + nothing.size + k


def test_arrays_that_numpy_makes():
    assert driver_of(source_of(texts_and_nothing)) is not None
    check(texts_and_nothing, lambda: (np.ones(1), 2), "cpu")


# ------------------------------------------------------------ subscripts


def swapped(a, i, j):
    a[[i, j]] = a[[j, i]]
    a += a[:, [3, 2, 1, 0]]
    a[:, 0] = a[:, [-1, 0]][:, 1]
    return a[[0, i, i], 1], a[1:][:, [1]], a[::-1, [j, 0]].sum(axis=0), a[None, [1]].sum(), a[[i]] - a[[j, i]]


def added(a, i, j):
    a[0, [i, j]] += 10
    b = a[0]
    b[[i, j, i]] *= 2


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("function", [swapped, added], ids=lambda f: f.__name__)
def test_lists_of_subscripts(function, backend):
    for i, j in ((0, 1), (1, 2), (-1, 0), (2, 2)):
        check(function, lambda i=i, j=j: (np.arange(12.0).reshape(3, 4), i, j), backend)


def chained(a, k, j):
    rows = np.array([2, 0])
    total = a[rows][0][1] + a[rows][1].sum() + a[k][j] + a[rows[0]][rows][1] + a[1:][rows - 1][-1, j]
    a[rows][0] = 5  # stores to a copy
    a[k][j] = 7
    a[k][rows] += 1
    return a[0][rows][:1], a[:, 1][rows], total


@pytest.mark.parametrize("backend", TARGETS)
def test_subscripts_of_what_subscripts_took(backend):
    """x[k][j] is x[k, j] if k is a number, which its type decides."""
    for k in (0, 1, -1):
        check(chained, lambda k=k: (np.arange(12.0).reshape(3, 4), k, 2), backend)


def gathered(x, y, k):
    x[:] = y[k, :]


def gathered_columns(x, y, k):
    x[:3, :3] = y[:3, k] * 2 + x[:3, ::-1][:, :3]


def exchanged_with(x, y, k):
    x[[0, k[1]]] = y[[k[1], 0]]


def made_of_both(x, y, k):
    rows = np.array([x[0], y[0], x[1]])
    x[:2] = rows[1:]
    y[0] = np.nan
    return rows, np.array([x[0, 0], -0.0, y[0, 1]])


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize(
    "function", [gathered, gathered_columns, exchanged_with, made_of_both], ids=lambda f: f.__name__
)
def test_arrays_that_share_memory(function, backend):
    """Values are computed before anything is stored, for any overlap of the arrays."""
    compiled = parpy.jit(function)
    for first in range(4):
        for step in (1, -1):
            for turned in (False, True):
                ours, pythons = np.arange(32.0).reshape(8, 4), np.arange(32.0).reshape(8, 4)
                results = []
                for memory, run in ((ours, partial(compiled, opts=options(backend, {}))), (pythons, function)):
                    views = memory[:3], memory[first : first + 3][::step]
                    results.append(run(*(views[::-1] if turned else views), np.array([2, 0, -1])))
                assert np.array_equal(ours, pythons, equal_nan=True)
                for got, want in zip(*(result or () for result in results), strict=True):
                    assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("backend", TARGETS)
def test_no_subscripts_and_masks(backend):
    def taken(x, k, m):
        return x[k, :], x[:, k[:0]], x[m, :], x[[False, True, True]]

    check(taken, lambda: (np.arange(6.0).reshape(3, 2), np.zeros(0, int), np.array([True, False, True])), backend)


# ------------------------------------------------------------ lists that are only read


def stencil(x, k):
    weights = [1, k, 1]
    out = x.copy()
    for i in range(1, len(x) - 1):
        total = 0.0
        for j, w in enumerate(weights):
            total += w * x[i + j - 1]
        out[i] = total / len(weights) + weights[i % 3] + (k in weights)
    return out


@pytest.mark.parametrize("backend", TARGETS)
def test_lists_that_are_read(backend):
    check(stencil, lambda: (np.arange(7.0), 2), backend)


# ------------------------------------------------------------ lists, dicts and sets of Python


def in_a_dict(x, k):
    s = 0.0
    for v in x:
        s += v
    return {"sum": s, "double": x * 2, "given": x, "list": [k, s], "n": len(x)}


def collected(x, k):
    found = []
    for i in range(len(x)):
        y = x[i] * x[i] + k
        if y > 3:
            found.append(y)
    return found, len(found)


def kept_apart(x, k):
    steps = []
    v = x * 1
    for _ in range(3):
        v = v * 2 + k
        steps.append(v)
    return steps


def counted(x, k):
    counts = {}
    for i in range(len(x)):
        key = int(x[i]) % 2
        counts[key] = counts.get(key, 0) + 1
    total = sum(counts.values())
    if counts:
        total += k
    return counts, total


def as_list(x, k):
    return [x[0] * 2, k]


def filled(x, k):
    best = [0] + [10] * k
    for i in range(1, k + 1):
        best[i] = best[i - 1] + x[i]
    return best, [0.5] * 2


def listed(x, k):
    first, second = as_list(x, k), [v * 2 for v in x]
    second.append(0.5)
    y = np.array(second)
    y += first[1]
    return y, second, first


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize(
    "function", [in_a_dict, collected, kept_apart, counted, as_list, filled, listed], ids=lambda f: f.__name__
)
def test_lists_of_python(function, backend):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)
        check(function, lambda: (np.arange(1.0, 6.0), 2), backend)


def test_a_loop_that_python_runs_is_warned_of():
    def squares(x):
        found = []
        for v in x:
            found.extend((v * v,))
        return found

    with pytest.warns(parpy.PerformanceWarning, match=r"P315\]: Python runs this loop: 'found' is a list, dict or set"):
        assert parpy.jit(squares)(np.arange(3.0)) == [0, 1, 4]


def different(x, k):
    n = len({int(v) % 3 for v in x})
    return n + len({1, 2, k}), sum({int(v) % 3 for v in x}), len({int(v): k for v in x}), k in {1, 2}


def entries_of_a_dict(x, k):
    return sum({int(v) % 3: i for i, v in enumerate(x)}.values()), max({int(v) % 3 for v in x})


@pytest.mark.parametrize("function", [different, entries_of_a_dict])
def test_sets_and_dicts_without_names(function):
    for backend in ("cpu", "sim"):
        check(function, lambda: (np.arange(1.0, 9.0), 2), backend)


def numbers_of_elements(x, k):
    n = 0
    for i in range(len(x)):
        n += len([v for v in x if v > x[i]])
    return n, len([1 for v in x if v > k]), len([i for i in range(k) if i != 1])


def test_lengths_of_comprehensions_are_counted():
    x = np.array([3.0, 1, 2, 5])
    with warnings.catch_warnings():
        warnings.simplefilter("error", parpy.PerformanceWarning)
        assert parpy.jit(numbers_of_elements)(x, 2) == numbers_of_elements(x, 2)


# ------------------------------------------------------------ lists as arguments


def weighted(x, weights, out):
    for i in range(1, len(x) - 1):
        total = 0.0
        for j, w in enumerate(weights):
            total += w * x[i + j - 1]
        out[i] = total / len(weights) + weights[i % 3] + weights[-1]
    return weights


def applied(matrices, x):
    for m in matrices:
        x = m @ x
    return x, tuple(x), len(matrices)


@pytest.mark.parametrize("backend", TARGETS)
def test_lists_as_arguments(backend):
    for weights in ([1.0, 2.0, 1.0], [3, 1, 2], [1.0, np.float32(0.5), True]):
        got, want = np.zeros(7), np.zeros(7)
        returned = parpy.jit(weighted)(np.arange(7.0), weights, got, opts=options(backend, {}))
        weighted(np.arange(7.0), weights, want)
        assert returned is weights
        np.testing.assert_array_equal(got, want)
    matrices = [2 * np.eye(3), np.ones((3, 3))]
    assert same(
        parpy.jit(applied)(matrices, np.arange(3.0), opts=options(backend, {})), applied(matrices, np.arange(3.0))
    )


def test_lists_that_are_changed():
    @parpy.jit
    def f(w):
        w[0] = 2.0

    for weights in ([1.0, 2.0], [1.0] * 1000):
        f(weights)
        assert weights[0] == 2


def cells_of(x, n):
    cells = {}
    for i in range(len(x)):
        cells.setdefault(int(x[i]) % n, []).append(i)
    return cells, n


def sums_of_cells(x):
    cells, n = cells_of(x, 3)
    s = np.zeros(n)
    for key, members in sorted(cells.items()):
        for i in members:
            d = x[i : i + 2] * 2
            s[key] += d.sum()
    return s


def test_dicts_in_tuples_that_functions_return():
    x = np.arange(8.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", parpy.PerformanceWarning)
        np.testing.assert_array_equal(parpy.jit(sums_of_cells)(x), sums_of_cells(x))


def letters(data):
    counts = np.zeros(26, dtype=np.int64)
    for c in data:
        if 65 <= c <= 90:
            counts[c - 65] += 1
    return counts


def differences(a, b):
    n = 0
    for i in range(min(len(a), len(b))):
        n += a[i] != b[i]
    return n + abs(len(a) - len(b))


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
def test_bytes_as_arguments():
    for data in (b"ABZA", b"", bytearray(b"QQ")):
        np.testing.assert_array_equal(parpy.jit(letters)(data), letters(data))
    assert parpy.jit(differences)(b"kitten", b"sitting") == differences(b"kitten", b"sitting")


def test_a_warning_tells_of_bytes():
    def sum_of(data):
        total = 0
        for c in data:
            total += c * 2
        return total

    with pytest.warns(parpy.PerformanceWarning, match=r"P315\]: Python runs this loop: 'data' is of type 'bytes'"):
        assert parpy.jit(sum_of)(b"AB") == sum_of(b"AB")
