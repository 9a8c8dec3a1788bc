"""Dates and durations in universal functions, on every target, beside the same function of NumPy's scalars."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import parpy
from ufunc_targets import DEVICES, TARGETS, on_device, on_host

DAYS = np.array(["2020-01-31", "NaT", "1969-12-31", "2024-02-29", "1899-03-01"], "M8[D]")
SECONDS = np.array(["2020-01-31T10:00:01", "2000-01-01", "NaT", "2023-02-28T23:59:59", "1899-03-01"], "M8[s]")
MONTHS = np.array(["2020-02", "1969-11", "NaT", "1970-01", "2400-03"], "M8[M]")
YEARS = np.array(["2020", "1969", "NaT", "1970", "2400"], "M8[Y]")
HOURS = np.array([5, -7, 0, 24, "NaT"], "m8[h]")
MINUTES = np.array([-3, 9, 7, "NaT", 60], "m8[m]")
NUMBERS = np.array([-2, -3, 0, 4, 5])
FLOATS = np.array([0.5, -3.25, 0.0, np.nan, 7.0])
DAY = np.timedelta64(1, "D")
NEVER = np.timedelta64("NaT")


def plus(a, b):
    return a + b


def minus(a, b):
    return a - b


def times(a, b):
    return a * b


def divided(a, b):
    return a / b


def floored(a, b):
    return a // b


def rest(a, b):
    return a % b


def below(a, b):
    return a < b


def at_most(a, b):
    return a <= b


def above(a, b):
    return a > b


def at_least(a, b):
    return a >= b


def same(a, b):
    return a == b


def other(a, b):
    return a != b


def later(a, b):
    return max(a, b)


def earlier(a, b):
    return np.fmin(a, b)


def latest(a, b):
    return np.maximum(a, b)


def clipped(a, b):
    return a if a > b else b + DAY


def counted(a, b):
    days = 0
    while a < b and days < 40:
        a += DAY
        days += 1
    return days


def total(a, b):
    found = 0
    for k in range(3):
        found += (a - b) * k
    return found


def unless(a, b):
    if np.isnat(a) or np.isnat(b):
        return NEVER
    return abs(-(a - b))


def month(a, b):
    return a.astype("M8[M]").astype(np.int64) % 12 + 1 + 0 * (b == b)


def next_month(a, b):
    return a.astype("M8[M]") + np.timedelta64(b, "M")


def named(a, b):
    first, last = a, b
    if last < first:
        first, last = last, first
    later = max(first, last)
    for _ in range(2):
        later = later + DAY
    return later


def helped(a, b):
    return between(a, b) / np.timedelta64(1, "h")


def between(a, b):
    return b - a


def chained(a, b):
    return np.datetime64("1900-01-01") < a <= b or not (a < b or a > b)


MIXED = [(DAYS, DAYS[::-1].copy()), (DAYS, SECONDS), (SECONDS, MONTHS), (YEARS, DAYS)]
DURATIONS = [(HOURS, HOURS[::-1].copy()), (HOURS, MINUTES)]
CASES = [
    *((f, case) for f in (minus, below, at_most, above, at_least, same, other, later, clipped) for case in MIXED),
    *((f, case) for f in (counted, total, unless, helped, earlier, latest, chained, named) for case in MIXED[:3]),
    *((f, case) for f in (plus, minus, divided, floored, rest, below) for case in DURATIONS),
    *((f, case) for f in (same, other, unless, later) for case in DURATIONS),
    *((plus, case) for case in [(DAYS, HOURS), (MINUTES, SECONDS), (MONTHS, MINUTES)]),
    *((plus, case) for case in [(DAYS, NUMBERS), (NUMBERS, HOURS)]),
    *((times, case) for case in [(HOURS, NUMBERS), (NUMBERS, MINUTES), (HOURS, FLOATS), (FLOATS, HOURS)]),
    *((f, (HOURS, b)) for f in (divided, floored) for b in (NUMBERS, FLOATS, NUMBERS.astype(np.int8))),
    (floored, (HOURS[:4] + np.timedelta64(2, "h"), np.array([-3, 3, 3, -5]))),
    (next_month, (DAYS, NUMBERS)),
    (month, (DAYS[[0, 2, 3, 4]], DAYS[[0, 2, 3, 4]])),
    (month, (SECONDS[[0, 1, 3, 4]], DAYS[[0, 2, 3, 4]])),
]  # fmt: skip


def expected(function, a, b):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.array([function(x, y) for x, y in zip(a, b, strict=True)])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("function", "case"), CASES, ids=lambda value: getattr(value, "__name__", None))
def test_each_operation_is_that_of_numpy_scalars(function, case, target):
    a, b = case
    wanted = expected(function, a, b)
    with np.errstate(all="ignore"):
        found = parpy.vectorize(target=target)(function)(a, b)
    if wanted.dtype.kind in "mM" and np.datetime_data(wanted.dtype)[0] != "generic":
        assert found.dtype == wanted.dtype
    assert found.dtype.kind == wanted.dtype.kind
    np.testing.assert_array_equal(found, wanted.astype(found.dtype))


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "25s", "ms", "ns"])
@pytest.mark.parametrize("given", ["M", "W", "D", "2h", "s", "us"])
def test_units_are_converted_as_by_astype(given, unit):
    dates = np.concatenate([np.arange(-40000, 40000, 371), np.arange(-40, 40)]).astype(f"M8[{given}]")
    if unit == "ns":
        dates = dates[np.abs(dates.view(np.int64)) < 3000]
    dates[3] = "NaT"
    name = f"M8[{unit}]"
    space = {"name": name}
    made = parpy.vectorize(function_of(f"def f(a):\n    return a.astype('{name}')\n", space))
    found = made(dates)
    assert found.dtype == name
    np.testing.assert_array_equal(found, dates.astype(name))


def function_of(text, space):
    import linecache

    file = f"<dates {text}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), space)
    return space["f"]


@pytest.mark.parametrize("target", TARGETS)
def test_methods_of_durations(target):
    f = parpy.vectorize(target=target, identity=0)(plus)
    rows = np.stack([HOURS, HOURS[::-1]])
    few = rows[:, 1:4]
    for array in (rows, few):
        for axis in (0, 1, (0, 1)):
            np.testing.assert_array_equal(f.reduce(array, axis=axis), np.add.reduce(array, axis=axis))
        np.testing.assert_array_equal(f.accumulate(array, axis=1), np.add.accumulate(array, axis=1))
    np.testing.assert_array_equal(f.reduceat(few[0], [0, 2]), np.add.reduceat(few[0], [0, 2]))
    np.testing.assert_array_equal(f.outer(DAYS, HOURS), np.add.outer(DAYS, HOURS))
    ours, numpys = HOURS.copy(), HOURS.copy()
    f.at(ours, [1, 1, 3], np.timedelta64(30, "m").astype("m8[h]"))
    np.add.at(numpys, [1, 1, 3], np.timedelta64(30, "m").astype("m8[h]"))
    np.testing.assert_array_equal(ours, numpys)
    out = np.zeros(2, "m8[h]")
    assert f.reduce(few, axis=1, out=out) is out and (out == few.sum(axis=1)).all()


@pytest.mark.parametrize("target", TARGETS)
def test_outputs_and_masks(target):
    f = parpy.vectorize(target=target)(minus)
    out = np.zeros(5, "m8[m]")
    assert f(DAYS, SECONDS, out=out) is out  # NumPy casts seconds to minutes
    np.testing.assert_array_equal(out, np.subtract(DAYS, SECONDS, out=np.zeros(5, "m8[m]")))
    ours, numpys = np.zeros(5, "m8[s]"), np.zeros(5, "m8[s]")
    mask = np.array([True, False, True, True, False])
    f(DAYS, SECONDS, out=ours, where=mask)
    np.subtract(DAYS, SECONDS, out=numpys, where=mask)
    np.testing.assert_array_equal(ours, numpys)
    assert f(DAYS[0], DAY).dtype == "M8[D]" and f(DAYS[0], DAY) == DAYS[0] - DAY
    assert f(DAYS[:0], DAYS[:0]).dtype == "m8[D]"


@pytest.mark.parametrize("target", DEVICES)
def test_arrays_on_the_device_are_converted_there(target):
    f = parpy.vectorize(target=target)(minus)
    for a, b in MIXED:
        found = on_host(f(on_device(a), on_device(b)))
        np.testing.assert_array_equal(found, a - b)
        assert found.dtype == (a - b).dtype


@pytest.mark.parametrize("target", TARGETS)
def test_generalised_functions_of_dates(target):
    @parpy.guvectorize("(n)->(),()", target=target)
    def first_and_count(dates, first, count):
        first[0] = dates[0]
        count[0] = np.datetime64(0, "s")
        for each in dates:
            first[0] = np.fmin(first[0], each)
            if not np.isnat(each):
                count[0] += np.timedelta64(1, "s")

    rows = np.stack([DAYS, DAYS[::-1]]).astype("M8[s]")
    first, count = first_and_count(rows)
    np.testing.assert_array_equal(first, np.fmin.reduce(rows, axis=1))
    assert count.view(np.int64).tolist() == [4, 4]


def indexed(a, b):
    return a[b]


def scaled(a, b):
    return a * b + 1.5


def one_of_two(a, b):
    found = 0
    if b > 0:
        found = a
    return found


def either(a, b):
    return a if b > 0 else 3


@pytest.mark.parametrize(
    ("function", "a", "b", "text"),
    [
        (plus, DAYS, DAYS, "'add' cannot use operands with types"),
        (times, DAYS, NUMBERS, "'multiply' cannot use operands"),
        (divided, HOURS, DAYS, "'divide' cannot use operands"),
        (indexed, DAYS, NUMBERS, "a date has no elements"),
        (either, DAYS, NUMBERS, "both a number and datetime64"),
        (one_of_two, DAYS, NUMBERS, "both a number and datetime64"),
        (scaled, HOURS, NUMBERS, "a float is no duration"),
        (plus, DAYS, FLOATS, "a float is no duration"),
        (plus, HOURS, np.array([1], "m8[Y]"), "Cannot get a common metadata divisor|cannot use operands"),
    ],
)
def test_operations_that_dates_do_not_have(function, a, b, text):
    with pytest.raises((TypeError, parpy.CompileError), match=text) as caught:
        parpy.vectorize(function)(a, b)
    if isinstance(caught.value, TypeError):
        first = function.__code__.co_firstlineno
        lines = range(first + 1, first + 4)
        shown = {f"in '{function.__name__}', line {line} of {__file__}" for line in lines}
        assert shown & {*caught.value.__notes__}


def test_a_ufunc_of_numbers_and_dates():
    f = parpy.vectorize(minus)
    assert f(5, 3) == 2 and f(2.5, np.arange(2)).tolist() == [2.5, 1.5]
    assert f(DAYS, DAYS).dtype == "m8[D]" and f(np.float32(1), np.float32(1)).dtype == np.float32
    assert f.types == ["ll->l", "dl->d", "MM->m", "ff->f"] and type(f) is np.ufunc
    np.testing.assert_array_equal(f(DAYS, DAYS[0], dtype="m8"), DAYS - DAYS[0])
    with pytest.raises(TypeError, match="takes neither 'dtype' nor 'signature' for dates"):
        f(DAYS, NUMBERS.astype("i1"), dtype="M8")
