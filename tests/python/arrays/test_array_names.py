"""Other names for arrays, and arrays that exchange names: Python changes the names, the loops between are compiled."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, copies, options
from parpy.types import F64, buffer


@parpy.jit
def exchange(a, b, steps):
    for t in range(steps):
        parpy.label("i")
        for i in range(1, a.shape[0] - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3
        a, b = b, a
    return a


@parpy.jit
def by_parity(a, b, steps):
    for t in range(steps):
        if t & 1:
            src = b
            dst = a
        else:
            src = a
            dst = b
        parpy.label("i")
        for i in range(1, src.shape[0] - 1):
            dst[i] = (src[i - 1] + src[i] + src[i + 1]) / 3
    return src


@parpy.jit
def three_steps(a, b, steps):
    for t in range(steps):
        parpy.label("i")
        b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3
        c = a
        a = b
        b = c
    return c


@parpy.jit
def chosen(a, b, steps):
    src = a
    for t in range(steps):
        src, dst = (b if t % 2 else a), (a if t % 2 else b)
        parpy.label("i")
        dst[1:-1] = (src[:-2] + src[1:-1] + src[2:]) / 3
    return src


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("function", [exchange, by_parity, three_steps, chosen])
@pytest.mark.parametrize("steps", [1, 2, 7])
def test_names_of_arrays(function, backend, steps):
    x, y = np.random.default_rng(0).random((2, 50))
    for opts in (options(backend, {"i": 16}), parpy.auto(backend=parpy.CompileBackend(backend))):
        a, b, c, d = x.copy(), y.copy(), x.copy(), y.copy()
        got, want = function(a, b, steps, opts=opts), function(c, d, steps, seq=True)
        np.testing.assert_array_equal(a, c)
        np.testing.assert_array_equal(b, d)
        assert (got is a) == (want is c)
        assert (got is b) == (want is d)


@parpy.jit
def numbers(x, y, n):
    u = n
    a, b = 1, 2
    for i in range(u):
        a, b = b, a
        y[i] = a * x[i]


def test_names_of_numbers_stay_in_compiled_code():
    x, y = np.ones(5), np.zeros(5)
    text = parpy.print_compiled(numbers, (x, y, 5))
    assert "for (" in text
    numbers(x, y, 5)
    assert y.tolist() == [2, 1, 2, 1, 2]


@parpy.jit
def inside(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        a = x
        y[i] = a[i]


def test_a_name_in_a_mapped_loop():
    y = np.zeros(5)
    inside(np.ones(5), y, opts=options("cpu", {"i": 4}))
    assert y.tolist() == [1] * 5


@parpy.jit
def exchanged_inside(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        x, y = y, x
        y[i] = x[i]


def test_a_mapped_loop_has_no_statements_that_python_runs():
    with pytest.raises(parpy.CompileError, match=r"Python runs the statement that it names(.|\n)*names of arrays"):
        exchanged_inside(np.ones(5), np.zeros(5), opts=options("cpu", {"i": 4}))


GLOBAL = np.arange(6.0)


@parpy.jit
def step(a, b):
    parpy.label("i")
    for i in range(1, a.shape[0] - 1):
        b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3


@parpy.jit
def exchange_of_arguments(a, b, steps):
    for t in range(steps):
        step(a, b)
        a, b = b, a


@parpy.jit
def exchange_in_lists(a, b, steps):
    for t in range(steps):
        step(a, b)
        [a, b] = [b, a]


@parpy.jit
def only_asked_for_its_shape(a, b, steps):
    c = a
    (n,) = c.shape
    b[0] = n + len(c)


@parpy.jit
def only_passed_on(a, b, steps):
    c = a
    step(c, b)


@parpy.jit
def annotated_parameter(a: buffer(F64, [6]), b, steps):
    src = a
    b[:] = src + 1


@parpy.jit
def captured(a, b, steps):
    src = GLOBAL
    b[:] = src + 1


@parpy.jit
def annotated_name(a, b, steps):
    src: np.ndarray = a
    for i in range(src.shape[0]):
        b[i] = src[i] + 2


@parpy.jit
def nested_choice(a, b, steps):
    src = a if steps > 2 else b if steps > 1 else GLOBAL
    a[:] = src[::-1]


@parpy.jit
def unset_before_a_loop(a, b, steps):
    for i in range(steps):
        y = a[i]
    a, b = b, a
    a[0] = y


@parpy.jit
def unset_in_the_first_step(a, b, steps):
    for t in range(steps):
        if t > 0:
            a[0] += prev  # noqa: F821
        prev = a[1]  # noqa: F841
        a, b = b, a


@parpy.jit
def unset_array(a, b, steps):
    for t in range(steps):
        if t > 0:
            parpy.label("i")
            for i in range(a.shape[0]):
                a[i] += prev[i]  # noqa: F821
        prev = b  # noqa: F841
        a, b = b, a


@parpy.jit
def unset_until_later(a, b, steps):
    for t in range(steps):
        if t == 3:
            y = a[0]
        if t > 3:
            b[0] += y
        a, b = b, a


@parpy.jit
def unset_beside_an_allocation(a, b, steps):
    z = np.zeros(3)
    for i in range(steps):
        last = a[i]
    z[0] = last
    return z[0]


@parpy.jit
def unset_in_a_choice(a, b, steps):
    for t in range(steps):
        a[0] += prev if t > 0 else 0.0  # noqa: F821
        prev = a[1]  # noqa: F841
        a, b = b, a


@parpy.jit
def unset_and_not_read(a, b, steps):
    a, b = b, a
    for i in range(steps):
        if a[i] > 1:
            found = i
    b, a = a, b
    if steps > 100:
        a[0] = found


@parpy.jit
def allocated_at_times(a, b, steps):
    for t in range(steps):
        if t % 2:
            z = np.ones(6)
        for i in range(6):
            a[i] += 1
        if t % 2:
            for i in range(6):
                a[i] += z[i]


@parpy.jit
def recursive(a, b, steps):
    if steps > 0:
        step(a, b)
        a, b = b, a
        recursive(a, b, steps - 1)


@parpy.jit
def recursive_with_allocation(a, b, steps):
    if steps == 0:
        return a
    c = np.zeros(a.shape[0])
    parpy.label("i")
    for i in range(a.shape[0]):
        c[i] = a[i] + 1
    return recursive_with_allocation(c, b, steps - 1)


FUNCTIONS = [
    exchange_of_arguments, exchange_in_lists, only_asked_for_its_shape, only_passed_on, annotated_parameter, captured,
    annotated_name, nested_choice, unset_before_a_loop, unset_in_the_first_step, unset_array, unset_until_later,
    unset_beside_an_allocation, unset_in_a_choice, unset_and_not_read, allocated_at_times, recursive,
    recursive_with_allocation,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("steps", [1, 2, 6])
def test_names_are_recognised_by_all_uses(function, steps):
    x, y = np.random.default_rng(0).random((2, 6))
    a, b, c, d = x.copy(), y.copy(), x.copy(), y.copy()
    got, want = function(a, b, steps), function(c, d, steps, seq=True)
    np.testing.assert_array_equal(a, c)
    np.testing.assert_array_equal(b, d)
    if want is not None:
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("function", [exchange_of_arguments, unset_array, recursive])
def test_labels_around_other_names(function):
    x, y = np.random.default_rng(0).random((2, 6))
    a, b, c, d = x.copy(), y.copy(), x.copy(), y.copy()
    function(a, b, 3, opts=options("cpu", {"i": 4}))
    function(c, d, 3, seq=True)
    np.testing.assert_array_equal(a, c)
    np.testing.assert_array_equal(b, d)


@parpy.jit
def entry(d, y):
    s = d["x"]
    k = d["n"]
    for i in range(k):
        y[i] = s[i]


def test_entries_of_dicts():
    x, y = np.arange(4.0), np.zeros(4)
    entry({"x": x, "n": 3}, y)
    assert y.tolist() == [0, 1, 2, 0]


def test_a_local_function_calls_itself():
    @parpy.jit
    def halved(a, b, n):
        if n > 0:
            b[:] = a[:] / 2
            a, b = b, a
            halved(a, b, n - 1)

    a, b = np.full(4, 8.0), np.zeros(4)
    halved(a, b, 3)
    assert a[0] == 2 and b[0] == 1


@pytest.mark.parametrize("function", [unset_before_a_loop, unset_beside_an_allocation])
def test_what_is_read_without_a_value(function):
    a, b = np.ones(6), np.ones(6)
    with pytest.raises(UnboundLocalError):
        function(a, b, 0)


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int64, np.float32, np.float64, np.complex64])
def test_what_may_have_no_value_keeps_its_type(backend, dtype):
    @parpy.jit
    def last(x, n):
        z = np.zeros(1)
        for i in range(n):
            if x[i]:
                y = x[i]
        z[0] = 1
        if n > 2:
            return y
        return z

    x, opts = np.ones(4, dtype), parpy.auto(backend=parpy.CompileBackend(backend))
    found = last(x, 3, opts=opts)
    assert found == 1 and np.asarray(found).dtype == dtype
    x[:] = 0
    assert last(x, 2, opts=opts).tolist() == [1]
    with pytest.raises(UnboundLocalError):
        last(x, 3, opts=opts)


@parpy.jit
def labelled_twice(x, y):
    parpy.label("i")
    for i in range(2):
        a = x
        y[i] = a[i]
    parpy.label("i")
    for i in range(2, x.shape[0]):
        y[i] = 2 * x[i]


def test_a_label_of_python_and_of_compiled_code():
    x, y = np.ones(5), np.zeros(5)
    labelled_twice(x, y, opts=options("cpu", {"i": 4}))
    assert y.tolist() == [1, 1, 2, 2, 2]


@parpy.jit
def not_told(a, b):
    src = a
    b[:] = src + 1


def test_a_name_of_a_number_or_an_array():
    b = np.zeros(3)
    not_told(4.0, b)
    assert b.tolist() == [5, 5, 5]
    not_told(np.ones(3), b)
    assert b.tolist() == [2, 2, 2]


@parpy.jit
def array_of_no_iterations(y, n, m):
    for _ in range(n):
        t = np.zeros(4)
        t[:] = 3
    y[:] += 1
    for j in range(m):
        y[j] = t[j]
    parpy.label("a")
    for _ in range(m - 3):
        parpy.label("b")
        y[:] += t[:]
    while y[0] > 5:
        y[0] -= len(t)


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize(("n", "m"), [(0, 0), (0, 2), (2, 0), (1, 4)])
def test_arrays_without_a_value_in_code_that_does_not_run(backend, n, m):
    got, want = np.zeros(4), np.zeros(4)
    opts = options(backend, {"b": 4, "gpu": 1})
    if n == 0 and m > 0:
        with pytest.raises(UnboundLocalError):
            array_of_no_iterations(want, n, m, seq=True)
        with pytest.raises(UnboundLocalError, match=r"y\[j\] = t\[j\]"):
            array_of_no_iterations(got, n, m, opts=opts)
        # After an error, arrays are not copied back to the host.
        assert got.tolist() in (want.tolist(), [0.0] * 4)
    else:
        array_of_no_iterations(want, n, m, seq=True)
        array_of_no_iterations(got, n, m, opts=opts)
        np.testing.assert_array_equal(got, want)


@parpy.jit
def marked_in_a_loop(x, known):
    if known:
        s = 0.0
        w = np.zeros(1)
        w[0] = s
    parpy.label("i")
    for i in range(x.shape[0]):
        s = x[i] + 1
        x[i] = s
    return s


def test_marks_are_not_told():
    with pytest.raises(parpy.CompileError) as caught:
        marked_in_a_loop(np.zeros(3), False, opts=options("cpu", {"i": 3}))
    assert "'s' is assigned" in str(caught.value) and "is_set" not in str(caught.value)


@parpy.jit
def other_name_of_a_tuple(x):
    p = (1, 2)
    q = p
    for i in range(2):
        x[i] = q[0] + q[1]


def test_other_names_of_tuples():
    x = np.zeros(2)
    other_name_of_a_tuple(x)
    assert x.tolist() == [3, 3]


@parpy.jit
def shape_of_a_name(x, y):
    s = x.shape
    x = y
    for i in range(s[0]):
        x[i] = s[0]


@parpy.jit
def two_names_for_a_shape(x, y):
    s = t = x.shape
    z = np.zeros(s)
    for i in range(t[0]):
        z[i] = y[i]
    return z


@parpy.jit
def tuple_of_numbers(x, y):
    t = (1, 2)
    z = np.zeros(t)
    for i in range(t[0]):
        z[i, 0] = y[i]
    return z


@pytest.mark.parametrize("function", [shape_of_a_name, two_names_for_a_shape, tuple_of_numbers])
def test_tuples_that_compiled_parts_get(function):
    x, y = np.zeros(1), np.arange(1.0)
    given = copies((x, y))
    got, want = function(x, y), function.__wrapped__(*given)
    assert (got is None) == (want is None)
    assert got is None or got.tolist() == want.tolist()
    assert [each.tolist() for each in (x, y)] == [each.tolist() for each in given]
