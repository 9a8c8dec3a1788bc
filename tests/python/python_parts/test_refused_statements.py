"""If compiled code refuses a statement of a function whose loops the caller does not map, Python runs the statement."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import parpy
from parpy.calls import compiling
from parpy.calls.jit import cache_info

MODES = [None, parpy.auto(backend=parpy.CompileBackend.Cpu), parpy.auto(backend=parpy.CompileBackend.Sim)]
WEIGHTS = {"H": 1.008, "C": 12.011}
RECORDS = np.dtype([("place", np.float64, 3), ("mass", np.float32), ("kind", np.int16)])


def horner(x, *coefficients):
    r = 0.0
    for c in coefficients:
        r = r * x + c
    return r


def series(x, n):
    s = 0
    for k in range(1, n):
        for i in range(len(x)):
            x[i] += 0.5
        s = s + np.sin(k * x) / k
    x *= 2
    return s


def primitive(u):
    density, momentum = u
    return density, momentum / density


def selected(x):
    window = np.s_[1:3]
    return x[window].sum() + x[0]


def days(start, end):
    return (end - start) / np.timedelta64(1, "D")


def unpacked(x):
    a, b, c = (int(v * 2) % 5 for v in x)
    return a * 100 + b * 10 + c


def of_records(p):
    total = 0.0
    for i in range(len(p)):
        p[i]["mass"] += p[i]["kind"]
        total += p[i]["mass"]
    for r in p:
        total += r["place"].sum()
    return total, len(p)


def weight(names):
    total = 0.0
    for name in names:
        total += WEIGHTS[name]
    return total


def kind_of(x, k):
    return np.sum(x) if k == "sum" else x[0] if k == "first" else x[-1]


def chosen(x, limits):
    total = 0.0
    for limit in limits:
        total += kind_of(x, "first" if limit > 0 else "last")
    return total


def records() -> np.ndarray:
    made = np.zeros(4, RECORDS)
    made["place"], made["mass"], made["kind"] = np.arange(12.0).reshape(4, 3), 1.5, np.arange(4)
    return made


CASES = [
    (horner, lambda: (np.arange(3.0), 1, 2.5, -1)),
    (horner, lambda: (2.0, 1, 2.5, -1)),
    (horner, lambda: (np.arange(3, dtype=np.float32), 1, 2)),
    (horner, lambda: (np.arange(3),)),
    (series, lambda: (np.arange(4.0), 5)),
    (series, lambda: (np.arange(4, dtype=np.float32), 3)),
    (series, lambda: (np.arange(4.0), 0)),
    (primitive, lambda: (np.arange(1.0, 7).reshape(2, 3),)),
    (primitive, lambda: ((1.0, 2.0),)),
    (selected, lambda: (np.arange(5),)),
    (days, lambda: (np.datetime64("2024-01-01"), np.array(["2024-02-03", "2023-12-31"], "datetime64[D]"))),
    (unpacked, lambda: (np.array([1.5, 2.5, 7.25]),)),
    (of_records, lambda: (records(),)),
    (of_records, lambda: (records()[::2],)),
    (of_records, lambda: (records()[:0],)),
    (weight, lambda: ("CHH",)),
    (weight, lambda: ("",)),
    (chosen, lambda: (np.arange(1.0, 5), np.array([1.0, -1.0, 2.0]))),
]


def check_equal(got, want) -> None:
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for a, b in zip(got, want, strict=True):
            check_equal(a, b)
        return
    assert np.asarray(got).dtype == np.asarray(want).dtype
    assert np.shape(got) == np.shape(want)
    if np.asarray(want).dtype.kind not in "fiub":
        assert np.array_equal(got, want)
    else:
        np.testing.assert_allclose(got, want, rtol=1e-6 if np.asarray(want).dtype == np.float32 else 1e-13)


@pytest.mark.parametrize("opts", MODES, ids=["default", "cpu", "sim"])
@pytest.mark.parametrize(("function", "arguments"), CASES, ids=[f"{f.__name__}-{i}" for i, (f, _) in enumerate(CASES)])
def test_results_are_pythons(function, arguments, opts):
    compiled = parpy.jit(function)
    for _ in range(2):
        want, got = arguments(), arguments()
        check_equal(compiled(*got, opts=opts), function(*want))
        check_equal(got, want)


def test_other_types_of_arguments_are_still_compiled():
    compiled = parpy.jit(horner)
    compiled(np.arange(3.0), 1, 2)
    assert compiled(2.0, 1.5, 2.0) == 5.0
    assert compiled(np.arange(2.0), 1, 2).tolist() == [2, 3]
    assert parpy.jit(series)(np.zeros(0), 2).shape == (0,)


def test_views_stay_views():
    u = np.arange(1.0, 7).reshape(2, 3)
    density, velocity = parpy.jit(primitive)(u)
    assert np.shares_memory(density, u)
    assert not np.shares_memory(velocity, u)


def test_the_warning_names_the_statement_and_the_reason():
    def powers(x, n):
        s = 0
        for k in range(1, n):
            s = s + x**k
        return s

    def hours(start, end):
        return (end - start) / np.timedelta64(1, "h")

    reason = r"(?s)P315\]: Python runs this loop: 's' is a float64 array of 1.* \(line \d+\)\n.*help: give each of them"
    with pytest.warns(parpy.PerformanceWarning, match=reason) as told:
        parpy.jit(powers)(np.arange(3.0), 3)
    assert len(told) == 1
    with pytest.warns(parpy.PerformanceWarning, match=r"P315\]: Python runs this statement .* 'timedelta64'"):
        parpy.jit(hours)(np.datetime64("2024-01-01"), np.array(["2024-02-03"], "datetime64[D]"))


def test_explain_shows_what_python_runs():
    compiled, x = parpy.jit(series), np.arange(3.0)
    before = str(parpy.explain(compiled, x, 3))
    compiled(x, 3)
    after = str(parpy.explain(compiled, x, 3))
    for shown in (before, after):
        assert "s = s + np.sin(k * x) / k" in shown.partition("Python runs:")[2]
        assert "for i in range(len(x))" in shown.partition("Python runs:")[0]


@pytest.mark.parametrize("mapping", [{}, {"k": parpy.threads(2)}], ids=["empty", "one"])
def test_a_caller_that_maps_loops_gets_the_error(mapping):
    x = np.arange(3.0)
    with pytest.raises(parpy.CompileError, match="'s' is a float64 array of 1 dimension here, and an int elsewhere"):
        parpy.jit(series)(x, 3, opts=parpy.par(mapping))
    assert x.tolist() == [0, 1, 2]
    compiled = parpy.jit(series)
    compiled(x, 3)
    with pytest.raises(parpy.CompileError, match="'s' is a float64 array"):
        compiled(x, 3, opts=parpy.par(mapping))


def subtracts_bools(x, y):
    y[0] = 5.0
    z = (x > 1) - (x > 2)
    return z.sum()


def adds_a_tuple(x, y):
    y += 1
    t = (1, 2)
    y[1] = t[5]


@pytest.mark.parametrize(
    ("function", "code", "line"),
    [(subtracts_bools, "P200", "z = "), (adds_a_tuple, "P025", "y[1] = ")],
    ids=["bools", "tuple"],
)
def test_a_mistake_has_its_place_and_changes_nothing(function, code, line):
    y, compiled = np.zeros(3), parpy.jit(function)
    for _ in range(3):
        with pytest.raises(parpy.CompileError, match=code) as raised:
            compiled(np.arange(3.0), y)
        assert line in str(raised.value)
        assert y.tolist() == [0, 0, 0]


class _OwnError(Exception):
    pass


def fails(v):
    raise _OwnError(f"no {v}")


def test_an_exception_of_the_user_stays():
    def summed(x, n):
        s = 0.0
        for k in range(n):
            s = s + x * k
            if k == 2:
                fails(k)
        return s

    with pytest.raises(_OwnError, match="no 2"):
        parpy.jit(summed)(np.arange(3.0), 4)
    assert parpy.jit(summed)(np.arange(3.0), 2).tolist() == [0, 1, 2]


def test_methods_of_numpy_functions_need_no_new_compilation(monkeypatch):
    @parpy.jit
    def grouped(keys, values):
        order = np.argsort(keys, kind="stable")
        k, v = keys[order], values[order]
        starts = np.flatnonzero(np.diff(k, prepend=k[0] - 1))
        return np.add.reduceat(v, starts) * 2

    keys, values = np.array([2, 0, 2, 1]), np.arange(4.0)
    assert grouped(keys, values).tolist() == [2, 6, 4]
    with monkeypatch.context() as patch:
        patch.setattr(compiling, "driver_of", None)
        for _ in range(3):
            assert grouped(keys, values).tolist() == [2, 6, 4]


def test_other_names_for_a_function_are_noticed(monkeypatch):
    @parpy.jit
    def total(x, i):
        y = np.zeros(3)
        np.add.at(y, i, x)
        return y * 2

    x, i = np.arange(3.0), np.array([0, 0, 2])
    assert total(x, i).tolist() == [2, 0, 4]
    assert total(x, i).tolist() == [2, 0, 4]
    monkeypatch.setitem(globals(), "np", _Numpy())
    assert total(x, i).tolist() == [4, 2, 6]


class _Numpy:
    """NumPy with another ``add.at``."""

    def __getattr__(self, name):
        return getattr(np_itself, name)

    @property
    def add(self):
        return self

    def at(self, y, i, x):
        np_itself.add.at(y, i, x)
        y += 1


np_itself = np


def test_functions_among_the_arguments_do_not_slow_calls():
    """Calls with functions are repeated without looking at their arguments again."""

    @parpy.jit
    def rate(t, y):
        return -y * t

    @parpy.jit
    def step(f, y, t):
        return y + 0.1 * f(t, y)

    y = np.ones(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(5):
            assert step(rate, y, 2.0).tolist() == [0.8] * 3
    assert cache_info(step).compilations <= 2


COUNT = 0


def counted(x):
    global COUNT
    total = 0.0
    for i in range(len(x)):
        COUNT += 1
        part = x[i:] * COUNT
        total += part.sum()
        del part
    return total


def test_global_variables_are_assigned_by_python(monkeypatch):
    monkeypatch.setitem(globals(), "COUNT", 0)
    want = counted(np.arange(4.0))
    assert COUNT == 4
    COUNT_NOW = COUNT
    assert parpy.jit(counted)(np.arange(4.0)) != want
    assert COUNT == COUNT_NOW + 4
    monkeypatch.setitem(globals(), "COUNT", 0)
    assert parpy.jit(counted)(np.arange(4.0)) == want


def test_variables_of_enclosing_functions_are_assigned_by_python():
    calls = 0

    @parpy.jit
    def f(x):
        nonlocal calls
        calls = calls + 1
        return (x * calls).sum()

    assert [f(np.ones(3)) for _ in range(3)] == [3, 6, 9]
    assert calls == 3


def without_a_name(x):
    t = x * 2
    s = t.sum()
    del t
    return s + 1


def with_a_name(x):
    t = x * 2
    if x[0] > 0:
        del t
    return t.sum()


def with_a_name_at_times(x):
    if x[0] > 0:
        t = x[0]
    y = x + 1
    del t
    return y


def test_names_are_deleted():
    x = np.arange(3.0)
    assert parpy.jit(with_a_name_at_times)(x + 1).tolist() == [2, 3, 4]
    with pytest.raises(UnboundLocalError):
        parpy.jit(with_a_name_at_times)(x)
    assert parpy.jit(without_a_name)(x) == 7
    assert parpy.jit(with_a_name)(x) == 6
    with pytest.raises(UnboundLocalError):
        parpy.jit(with_a_name)(x + 1)


def scaled(x, n):
    part = x[1:]
    factor = WEIGHTS["HC"[n % 2]]
    part *= factor
    return x.sum(), part


def test_each_type_of_arguments_may_be_refused():
    compiled = parpy.jit(scaled)
    for _ in range(2):
        for x in (np.ones(3, np.float32), np.ones(3), np.ones(2, complex)):
            want, got = x.copy(), x.copy()
            check_equal(compiled(got, 1), scaled(want, 1))
            assert got.tolist() == want.tolist()
        x = np.ones(3, np.int64)
        with pytest.raises(TypeError, match=r"P226.*cannot hold the float64 results"):
            compiled(x, 1)
        assert x.tolist() == [1, 1, 1]
