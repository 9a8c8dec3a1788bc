"""Tuples and None at the edges: empty tuples, subscripts out of range, arrays that share memory, strides, NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parpy
from backends import BACKENDS, TARGETS, options, run
from results import same


def copied(given: Any, bases: dict[int, Any]) -> Any:
    """A copy in which arrays share memory as the given ones do."""
    if isinstance(given, tuple):
        return tuple(copied(each, bases) for each in given)
    if not isinstance(given, np.ndarray):
        return given
    base = given
    while base.base is not None:
        base = base.base
    made = bases.setdefault(id(base), base.copy())
    place = given.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return np.ndarray(given.shape, given.dtype, made, place, given.strides)


def check(function: Any, arguments: tuple[Any, ...], backend: str) -> None:
    compiled = parpy.jit(function)
    ours, pythons = copied(arguments, {}), copied(arguments, {})
    got, want = compiled(*ours, opts=options(backend, {})), function(*pythons)
    assert same(got, want), (got, want)
    assert same(ours, pythons)


def empty(x, k):
    t = ()
    n = len(t)
    for a in t:
        n += a
    return t, sum(t), n, (*t, 1), any(t), all(t), k in t, t == (), t != (k,)


def taken_at_the_same_time(x, k):
    a, b = x[0:2]
    x[1], x[0] = x[0], x[1]
    c, d = x[::-1][:2]
    return a, b, c, d


def swapped(t):
    return t[1], t[0]


def of_many_types(x, k):
    t = (x[0] > 1, np.float32(x[0]), k * 1j, np.uint64(3))
    return t, swapped(t[:2]), swapped(t)[1]


def least(x, k):
    best = None
    for v in x:
        if best is None or v < best:
            best = v
    return best


def until_nan(x, k):
    i = 0
    t = (i, x[i])
    while t[0] < len(x) - 1 and t[1] == t[1]:
        i += 1
        t = (i, x[i])
    return t


def stored_and_read(x, t):
    x[0] += t[0]
    return t[0] * 1, x[0] + 0


def called_before(x, k):
    p, q = stored_and_read(x, (x[0], 1)), x[0]
    return p, q


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize(
    "function",
    [empty, taken_at_the_same_time, of_many_types, least, until_nan, called_before],
    ids=lambda f: f.__name__,
)
def test_numbers(backend, function):
    base = np.arange(8.0)
    vectors = [
        np.array([1.0, 2, 3]), np.array([3, 1, 2], "i4"), base[::-2], np.array([np.nan, 1, -1]), np.array([-0.0, 0]),
        np.array([1, np.nan], "f4"), np.array([2**63, 1], "u8"),
    ]  # fmt: skip
    for x in vectors:
        check(function, (x, 1), backend)
    if function is least:
        check(function, (np.zeros(0), 1), backend)


def stores_through_both(t, k):
    a, b = t
    b[...] = a + k
    a[0] = 7
    return a, b, (a[0], b[-1])


def in_tuples_of_tuples(t, k):
    (x, n), y = t
    x[:] = x[::-1] + n
    y[:2] = x[1:3]
    return t


def through_subscripts(t, k):
    t[0][0][:] = t[1] * 2
    t[1][:2] += t[0][0][1:3]
    t[0][0][k] = 5
    t[-1][-1], t[0][0][0] = t[0][1], t[1][-1]


@pytest.mark.parametrize("backend", TARGETS)
def test_arrays_that_share_memory(backend):
    b = np.arange(10.0)
    pairs = [(b[:5], b[5:]), (b[:5], b[2:7]), (b[::2], b[1::2]), (b[:5], b[:5]), (b[::-1][:5], b[:5])]
    for first, second in pairs:
        check(stores_through_both, ((first, second), 2), backend)
        check(in_tuples_of_tuples, (((first, 3), second), 1), backend)
        check(through_subscripts, (((first, 3), second), 1), backend)
    check(stores_through_both, ((np.zeros(1), b[:4]), 2), backend)


def rows_and_columns(m, k):
    a, b = m
    a[0], b[0] = b[1], a[1]
    (c, d), e = a, b[0]
    return c, d, e, m.shape, m[..., 0].sum(), m[k, ...][0]


@pytest.mark.parametrize("backend", TARGETS)
def test_rows(backend):
    square = np.arange(4.0).reshape(2, 2)
    for m in (square, np.asfortranarray(square), square.T, np.arange(16.0).reshape(4, 4)[::-2, ::3]):
        for k in (0, 1, -1):
            check(rows_and_columns, (m, k), backend)


def chosen(x, k):
    t = (x[0], 2, 3.5)
    return t[k], ((1, k), (2, x[1]))[k % 2]


def none_comes_and_goes(x, k):
    n = None
    total = 0
    for i in range(k + 2):
        if n is not None:
            total += n
        if i == 1:
            n = 10
        elif i == 2:
            n = None
    return total, n, n == 10, n != None  # noqa: E711


@pytest.mark.parametrize("backend", TARGETS)
def test_subscripts_that_are_known_when_the_program_runs(backend):
    """The subscripts are constants of the program at first, numbers of the call after some calls."""
    compiled, x = parpy.jit(chosen), np.array([1.0, 2])
    for k in (0, 1, 2, -1, -2, -3, 0, 1):
        assert compiled(x, k, opts=options(backend, {})) == chosen(x, k)
        check(none_comes_and_goes, (x, abs(k)), backend)
    for k in (3, -4, 2**40):
        with pytest.raises(IndexError, match=f"subscript {k} is out of bounds for a tuple of 3 elements"):
            compiled(x, k, opts=options(backend, {}))


def two_of(x):
    a, b = x
    return a + b


@pytest.mark.parametrize("backend", TARGETS)
def test_arrays_of_other_lengths_are_not_taken_apart(backend):
    compiled = parpy.jit(two_of)
    assert compiled(np.array([1.0, 2]), opts=options(backend, {})) == 3
    for n in (3, 1, 0):
        with pytest.raises(ValueError, match=f"{n} elements cannot be assigned to 2 targets"):
            compiled(np.zeros(n), opts=options(backend, {}))


# ------------------------------------------------------------ a tuple or None


def hit(o, d, k):
    b = o[0] * d[0] + o[1] * d[1]
    rest = b * b - o[0] * o[0] - o[1] * o[1] + 0.2 * k
    if rest < 0:
        return None
    return -b - rest**0.5, k


def nearest(origins, directions, out):
    parpy.label("n")
    for i in range(len(out)):
        near, which = 100.0, -1
        for k in range(4):
            found = hit(origins[i], directions[i], k)
            if found is None:
                continue
            t, at = found
            if t < near:
                near, which = t, at
        out[i] = near + 10 * which


def asked(v):
    found = hit((v, 0.5), (0.25, v), 1)
    answers = 0
    if found:
        answers += 1
    if found == None:  # noqa: E711
        answers += 2
    if found != None:  # noqa: E711
        answers += 4
    if found is not None:
        answers += found[0] * 8 + len(found)
    return answers


@pytest.mark.parametrize("mapping", [{}, {"n": 5}], ids=["sequential", "parallel"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_functions_return_a_tuple_or_none(backend, mapping):
    rng = np.random.default_rng(4)
    given = rng.random((5, 2)) - 0.5, rng.random((5, 2)) - 0.5
    got, want = np.zeros(5), np.zeros(5)
    run(backend, parpy.jit(nearest), (*given, got), mapping)
    nearest(*given, want)
    np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.parametrize("backend", TARGETS)
def test_a_tuple_or_none_is_asked_for(backend):
    compiled = parpy.jit(asked)
    for v in (0.1, -0.3, 4.0):
        np.testing.assert_allclose(compiled(v, opts=options(backend, {})), asked(v), rtol=1e-12)


@parpy.jit
def unasked(v):
    return hit((v, 0.5), (0.25, v), 1)[0]


def test_a_tuple_or_none_has_to_be_asked_for():
    with pytest.raises(TypeError, match=r"P434.*is None, but is used as a tuple"):
        unasked(-0.3)
    with pytest.raises(TypeError):
        unasked.__wrapped__(-0.3)


def counted(x, i):
    x[i] += 1
    return i


def pair(x):
    x[0] += 10
    return 1, 2


def as_a_statement(x):
    (counted(x, 0), (counted(x, 1), pair(x)), None)
    (*(counted(x, 1), counted(x, 2)), 3)


def added_as_a_statement(x):
    (counted(x, 0), counted(x, 1)) + (counted(x, 2),)  # noqa: RUF005


def compared(x):
    if (counted(x, 0), counted(x, 1)) == (counted(x, 2), 1):
        x[0] += 100
    if (counted(x, 0), counted(x, 1)) < (counted(x, 2), 5, counted(x, 1)):
        x[1] += 100


def compared_in_a_row(x):
    if x[2] > 100 and (counted(x, 0), counted(x, 1)) == (1, 1):
        x[0] += 100
    if (0, 1) <= (counted(x, 0), counted(x, 1)) < (counted(x, 1), counted(x, 0)):
        x[1] += 100


def asked_for_none(x):
    if (counted(x, 0), pair(x)) is not None:
        x[1] += 100


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "function", [as_a_statement, added_as_a_statement, compared, compared_in_a_row, asked_for_none]
)
def test_all_elements_are_evaluated(function, backend):
    got, want = np.arange(3.0), np.arange(3.0)
    run(backend, parpy.jit(function), (got,), {})
    function(want)
    assert got.tolist() == want.tolist()
