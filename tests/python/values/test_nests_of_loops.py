"""Loops over np.ndindex, np.ndenumerate and itertools.product, which are nests, and over calls that give arrays, in
comparison with Python."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import parpy
from backends import TARGETS, check_as_python, options

rng = np.random.default_rng(5)


def elements(x, y, n):
    s = 0.0
    for v in x.ravel():
        s = s * 0.5 + v
    for v in x.flat:
        s = s * 0.5 - v
    for v in x[0] * 2 + x[1]:
        s += v
    for k, row in enumerate(np.abs(x - 1)):
        y[k, 0] = row[1]
    for u, v in zip(x.T.flat, np.cumsum(x[0]), strict=False):
        s += u * v
    return s


def indices(x, y, n):
    for i, j in np.ndindex(x.shape):
        y[i, j] = x[i, j] * i + j
    for i, j in np.ndindex(*x[1:].shape):
        y[i, j] += 1
    for i, j in np.ndindex(n, 2):
        y[i, j] *= i
    shape = (2, n)
    for i, j in np.ndindex(shape):
        y[i, j] -= i
    for at in np.ndindex(x.shape):
        y[at] += x[at]
    for (k,) in np.ndindex(n):
        y[k] += k


def enumerated(x, y, n):
    s = 0.0
    for (i, j), v in np.ndenumerate(x):
        y[i, j] = v * i + j
    for at, v in np.ndenumerate(x):
        y[at] += v
    for (i, j), v in np.ndenumerate(x[1:] * 2):
        s += v * i * j
    for (i,), v in np.ndenumerate(y[n - 1]):
        s += v * i
    return s


def products(x, y, n):
    for i, j in itertools.product(range(n), range(1, n)):
        y[i, j] = x[i, j] * i + j
    for i, (a, b), v in itertools.product(range(2), ((0, 1), (1, 2)), x[0]):
        y[a, b] += v * i
    s = sum(a * b for a, b in itertools.product(range(n), repeat=2))
    for di, dj, dk in itertools.product((-1, 0, 1), repeat=3):
        s += di * 4 + dj * 2 + dk * dk
    return s


def left_early(x, y, n):
    c = 0
    for i, j in itertools.product(range(n), range(n)):
        if i * j > 3:
            break
        if j == 1:
            continue
        c += 1
    else:
        c += 100
    for i, j in np.ndindex(n, n):
        c += i
    else:
        c += 1000
    for at, v in np.ndenumerate(x):
        if v > 0.9:
            y[at] = v
            break
    for i, j in np.ndindex(x.shape):
        for k in range(j):
            if k > 1:
                break
            c += k
        if i == 2:
            return c
    return -c


def changed_inside(x, y, n):
    for i, j in itertools.product(range(n), range(n)):
        y[i, j] = i
        i += 7
        n = 1
    return i, j, n


FUNCTIONS = [elements, indices, enumerated, products, left_early, changed_inside]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", TARGETS)
def test_as_python(backend, function):
    given = rng.random((3, 4)), rng.random((3, 4)), 3
    check_as_python(backend, function, given)


@pytest.mark.parametrize("shape", [(5,), (2, 3), (2, 2, 3), (1, 2, 2, 2)], ids=len)
def test_subscripts_of_any_number_of_dimensions(shape):
    def doubled(x, y):
        for at, v in np.ndenumerate(x):
            y[at] = v * 2

    x = rng.random(shape)
    y = np.zeros(shape)
    parpy.jit(doubled)(x, y)
    np.testing.assert_array_equal(y, x * 2)


def test_the_outermost_loop_has_the_label_and_runs_in_parallel():
    def doubled(x, y):
        parpy.label("i")
        for i, j in np.ndindex(x.shape):
            y[i, j] = x[i, j] * 2

    x = rng.random((300, 40))
    y = np.zeros_like(x)
    opts = parpy.par({"i": parpy.threads(4)})
    assert "parpy_parallel_for" in parpy.print_compiled(parpy.jit(doubled), (x, y), opts)
    parpy.jit(doubled)(x, y, opts=opts)
    np.testing.assert_array_equal(y, x * 2)


def test_other_products_are_run_by_python():
    def words(n):
        found = []
        for a, b in itertools.product("ab", repeat=n):
            found.append(a + b)
        return found

    with pytest.warns(parpy.PerformanceWarning, match="P315"):
        assert parpy.jit(words)(2) == ["aa", "ab", "ba", "bb"]


def test_a_shape_of_another_number_of_dimensions_is_refused():
    def pairs(x):
        for i, j in np.ndindex(x.shape):
            x[i, j] = 1

    with pytest.raises(parpy.CompileError, match="P220"):
        parpy.jit(pairs)(np.ones(3))


def test_numbers_at_equal_distances():
    def total(a, n):
        s = 0.0
        for v in np.linspace(-1.0, a, n):
            s += v * v
        for u, v in zip(np.arange(n), np.arange(0.5, a, 0.25), strict=False):
            s -= u * v
        for k in np.arange(7, 2, -2):
            s += k
        return s

    opts = options("cpu", {})
    for given in ((2.0, 3), (0.25, 1), (1.5, 0), (9.0, 40)):
        np.testing.assert_allclose(parpy.jit(total)(*given, opts=opts), total(*given), rtol=1e-13)


def bumped(z):
    z[0] += 1
    z[2] += 3
    return z[0]


def by_another_name(x, y):
    z = x
    s = 0.0
    for a, b in itertools.product(x, x):
        z[0] += 1
        s += a * b
    return s


def by_a_part(x, y):
    z = x[1:]
    s = 0.0
    for a, b in itertools.product(x, range(2)):
        z[0] += 1
        s += a * b
    return s


def by_two_arrays(x, y):
    s = 0.0
    for a, b in itertools.product(x, y):
        y[0] += 1
        x[1] += 1
        s += a * b
    return s


def by_a_call(x, y):
    s = 0.0
    for a, b in itertools.product(x, y):
        bumped(x)
        s += a * b
    return s


def by_a_call_in_a_sum(x, y):
    return sum(a * b + bumped(x) for a, b in itertools.product(x, x))


def of_enumerations(x, y):
    s = 0.0
    for (i, a), b in itertools.product(enumerate(x), x):
        x[i] += 1
        s += a * b
    return s


def of_tuples(x, y):
    t = (1.0, 2.0)
    s = 0.0
    for a, b, c in itertools.product(t, x, (y[0], 3.0)):
        y[0] += 1
        s += a * b * c
    return s


@pytest.mark.parametrize(
    "function",
    [by_another_name, by_a_part, by_two_arrays, by_a_call, by_a_call_in_a_sum, of_enumerations, of_tuples],
)
def test_products_take_all_elements_before_the_loop_changes_them(function):
    for part in (slice(0, 4), slice(2, 6)):  # y shares memory with x in the second call
        want, got = np.arange(8.0), np.arange(8.0)
        expected = function(want[:4], want[part])
        assert parpy.jit(function)(got[:4], got[part]) == expected
        np.testing.assert_array_equal(got, want)


def test_rows_in_products_are_parts_of_the_array():
    def total(m, x):
        s = 0.0
        for row, b in itertools.product(m, x):
            m[0, 0] += 1
            s += row[0] * b + row[1]
        return s

    want, got, x = np.arange(4.0).reshape(2, 2), np.arange(4.0).reshape(2, 2), np.arange(3.0)
    expected = total(want, x)
    assert parpy.jit(total)(got, x) == expected
    np.testing.assert_array_equal(got, want)
