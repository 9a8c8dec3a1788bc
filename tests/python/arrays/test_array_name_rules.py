"""Names of arrays in cases where Python's rules are easily missed: one memory under two names, names without an array,
that depend on data or are negative."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import BACKENDS, copies, run

rng = np.random.default_rng(19)


@parpy.jit
def shifted(a, r):
    a[0, 1:] = r[:-1] * 2


@parpy.jit
def summed(r, a):
    for j in range(1, r.shape[0]):
        a[0, j] = r[j - 1] + 1


@parpy.jit
def passed_on(a, r):
    shifted(a, r)


def array_and_row(x, y, k):
    shifted(x, x[0])


def row_and_array(x, y, k):
    r = x[0]
    summed(r, x)
    passed_on(x, r[:])


def sizes_of_data(x, y, k):
    for i in range(k.shape[0]):
        t = x[0, : k[i]] * 2
        u = t + 1
        s = 0.0
        for j in range(u.shape[0]):
            s += u[j] - t[j] * 0.5
        y[i] = s


def sizes_between(x, y, k):
    for i in range(k.shape[0]):
        m = k[i]
        t = x[1, m // 2 : m] + 1
        q = x[0, m // 2 : m : 2]
        u = q * 2
        y[i] = parpy.sum(t) + len(q) + parpy.sum(u)


def sizes_from_the_end(x, y, k):
    for i in range(k.shape[0]):
        t = x[1, 2 : -k[i]] * x[0, 2 : -k[i]]
        y[i] = t.shape[0]


def row_of_sums(x, y, k):
    v = y[:]
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            v[i] += x[i, j]


def chosen_row(x, y, k):
    for i in range(x.shape[0]):
        if k[0] > 0:  # noqa: SIM108
            v = y[0:]
        else:
            v = y[::-1]
        for j in range(x.shape[1]):
            v[i] += x[i, j]


def in_place(x, y, k):
    q = y[1:]
    q += x[-1, :-1]
    y *= x[:, 0]


@pytest.mark.parametrize("function", [row_of_sums, chosen_row, in_place], ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", BACKENDS)
def test_arguments_that_share_memory_and_are_stored_under_names(backend, function):
    for row in (-1, 0):
        want, got = (np.arange(16.0).reshape(4, 4) for _ in range(2))
        function(want, want[row], np.zeros(1))
        run(backend, parpy.jit(function), (got, got[row], np.zeros(1)), {})
        np.testing.assert_allclose(want, got, rtol=1e-12)


@pytest.mark.parametrize(
    "function",
    [array_and_row, row_and_array, sizes_of_data, sizes_between, sizes_from_the_end],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize("backend", BACKENDS)
def test_as_python(backend, function):
    given = rng.random((2, 40)), np.zeros(6), np.array([1, 50, 3, 7, 20, 0])
    want, got = copies(given), copies(given)
    function(*want)
    run(backend, parpy.jit(function), got, {})
    for a, b in zip(want, got, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def whole(x, y, n):
    if n > 3:
        r = x
    y[0] = r[1, 0]


def row(x, y, n):
    if n > 3:
        r = x[1]
    if y[0] == 0 and r[0] >= 0:
        y[0] = r[0]


def values_of_some_iterations(x, y, n):
    for i in range(2):
        if i + n > 3:
            t = x[i] * 2
        y[i] = t[0]


def behind_a_loop(x, y, n):
    for i in range(n - 3):
        t = x[i] * 2
    y[0] = parpy.sum(t)


def updated(x, y, n):
    if n > 3:
        t = x[0] * 2
    t += 1
    y[0] = t[2]


def given_to_a_function(x, y, n):
    if n > 3:
        r = x[1]
    summed(r, x)


UNBOUND = [whole, row, values_of_some_iterations, behind_a_loop, updated, given_to_a_function]


@pytest.mark.parametrize("function", UNBOUND, ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", BACKENDS)
def test_names_without_an_array(backend, function):
    given = rng.random((2, 5)), np.zeros(2), 5
    want, got = copies(given), copies(given)
    function(*want)
    run(backend, parpy.jit(function), got, {})
    for a, b in zip(want, got, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    with pytest.raises(UnboundLocalError):
        function(*copies(given)[:2], 0)
    with pytest.raises(UnboundLocalError, match="P423"):
        run(backend, parpy.jit(function), (*copies(given)[:2], 0), {})


def negative(x, n):
    for i in range(x.shape[0]):
        t = np.zeros(n)
        x[i] = t.shape[0] + 1


def negative_and_empty(x, n):
    for i in range(x.shape[0]):
        t = np.empty((2, n))
        t[0] = 1
        x[i] = t.shape[1]


@pytest.mark.parametrize("function", [negative, negative_and_empty], ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", BACKENDS)
def test_negative_sizes(backend, function):
    x = np.zeros(3)
    run(backend, parpy.jit(function), (x, 2), {})
    assert x.tolist() == [3 if function is negative else 2] * 3
    with pytest.raises(ValueError, match="P430"):
        run(backend, parpy.jit(function), (x, -1), {})
    run(backend, parpy.jit(function), (np.zeros(0), -1), {})  # not reached


def of_other_kinds(x, y, k):
    for i in range(2):
        a = np.ones((2, 3), dtype="f4", order="F")
        b = np.copy(x, order="K")
        np.empty(3, dtype=[("a", "f8")])
        np.zeros(2, "S1")
        y[i] = a[1, 2] + b[0, i]


def test_what_compiled_code_cannot_make_is_pythons():
    x, y = rng.random((2, 5)), np.zeros(4)
    parpy.jit(of_other_kinds)(x, y, 0)
    assert y.tolist() == [1 + x[0, 0], 1 + x[0, 1], 0, 0]


@parpy.jit
def sized_by_lengths(x, y):
    for i in range(len(x)):
        t = np.zeros(len(y), dtype=x.dtype)
        u = np.ones((2, len(y)), "int32")
        t[i] += u[1, 2]
        y[i] = t[i] + t[i - 1]


def test_sizes_by_len():
    x, y = np.zeros(3), np.zeros(5)
    text = parpy.print_compiled(sized_by_lengths, (x, y))
    assert "int u[" in text
    sized_by_lengths(x, y)
    assert y.tolist() == [1, 1, 1, 0, 0]


def wrong_labels(x, y):
    for i in range(2):
        parpy.label("N")
        r = x[i, :]
        y[i] = r[0]


def float_size(x, y):
    for i in range(2):
        t = np.zeros(3.0)
        y[i] = t[0]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (wrong_labels, "P020.*label 'N' names no loop: the statement only gives elements a name"),
        (float_size, "P209.*the shape of an array takes integers, this is a float"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_refused(function, message):
    with pytest.raises(parpy.CompileError, match=message):
        parpy.jit(function)(rng.random((2, 5)), np.zeros(2))


def subscripts_of_parts(x, y, k):
    for i in range(4):
        r = x[i % 2, 1:4]
        q = r[::-2]
        y[i] = r[k[i]] + q[0]


def constant_outside_of_a_part(x, y, k):
    for i in range(4):
        r = x[0, 1:4]
        if k[i] > 2:
            y[i] = r[3]


def stored_outside_of_values(x, y, k):
    for i in range(4):
        t = x[0, :2] * 2
        t[k[i]] += 1
        y[i] = t[-1]


def passed_outside(x, y, k):
    for i in range(4):
        y[i] = element(x[1, 2:4], k[i])


@parpy.jit
def element(r, n):
    return r[n]


@pytest.mark.parametrize(
    ("function", "inside", "outside", "message"),
    [
        (subscripts_of_parts, [2, -1, 1, -2], 3, "subscript 3 is out of bounds for axis 0 of 'r', whose size is 3"),
        (subscripts_of_parts, [2, -1, 1, -2], -4, "subscript -4 is out of bounds for axis 0 of 'r', whose size is 3"),
        (
            constant_outside_of_a_part,
            [2, 1, 0, 1],
            3,
            "subscript 3 is out of bounds for axis 0 of 'r', whose size is 3",
        ),
        (
            stored_outside_of_values,
            [1, 0, -2, -1],
            2,
            "subscript 2 is out of bounds for axis 0 of 't', whose size is 2",
        ),
        (passed_outside, [1, 0, -1, -2], 2, "subscript 2 is out of bounds for axis 0 of 'r', whose size is 2"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
@pytest.mark.parametrize("check", [None, "bounds"])
@pytest.mark.parametrize("backend", ["cpu", "sim"])
def test_subscripts_are_checked_against_the_part(backend, check, function, inside, outside, message):
    x, k = rng.random((2, 9)), np.array(inside)
    want, got = np.zeros(4), np.zeros(4)
    function(x, want, k)
    opts = parpy.CompileOptions(backend=parpy.CompileBackend(backend), check=check)
    parpy.jit(function)(x, got, k, opts=opts)
    np.testing.assert_allclose(want, got, rtol=1e-12)
    if check is None and function is not constant_outside_of_a_part:
        return  # only constants are compared, as for arrays
    k[3] = outside
    with pytest.raises(IndexError, match=f"P421.*{message}"):
        parpy.jit(function)(x, got, k, opts=opts)
