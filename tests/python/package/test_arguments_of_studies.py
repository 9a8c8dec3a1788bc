"""explain, tune and print_compiled accept a call's arguments alike; explain also names the parts that Python runs."""

from __future__ import annotations

import re

import numpy as np
import pytest

import parpy


@parpy.jit
def inner(x, i, n):
    parpy.label("j")
    for j in range(n):
        x[i, j] += 1.0


@parpy.jit
def outer(x, y, n, m):
    parpy.label("i")
    for i in range(n):
        parpy.builtin.inline(inner(x, i, m))
    for i in range(n):
        y[i] = 2.0


@parpy.jit
def pair(both):
    for i in range(len(both[0])):
        both[0][i] = both[1][i]


@parpy.jit
def turns(x, y, n):
    s, d = x, y
    for t in range(n):
        for i in range(1, len(x) - 1):
            d[i] = s[i - 1] + s[i + 1]
        s, d = d, s


@parpy.jit
def partly(x, names):
    print("first", names)
    for i in range(len(x)):
        x[i] *= 2
    r = np.linalg.inv(np.eye(3) * x[0])
    for t in range(3):
        x[t] += r[t, t]
        print(t)
    return sorted(names)


def arguments():
    return np.ones((8, 9)), np.ones(8), 8, 9


def opts():
    return parpy.par({"i": parpy.threads(2)}, backend=parpy.CompileBackend.Cpu)


def test_explain_takes_arguments_or_one_list():
    x, y, n, m = arguments()
    want = str(parpy.explain(outer, x, y, n, m))
    assert want.count("for j in range") == 1
    assert str(parpy.explain(outer, [x, y, n, m])) == str(parpy.explain(outer, (x, y, n, m))) == want
    mapped = str(parpy.explain(outer, x, y, n, m, opts=opts()))
    assert mapped == str(parpy.explain(outer, [x, y, n, m], opts())) != want


def test_print_compiled_takes_arguments_or_one_list():
    x, y, n, m = arguments()
    want = parpy.print_compiled(outer, [x, y, n, m])
    assert parpy.print_compiled(outer, x, y, n, m) == parpy.print_compiled(outer, (x, y, n, m), None) == want
    mapped = parpy.print_compiled(outer, [x, y, n, m], opts())
    assert mapped == parpy.print_compiled(outer, x, y, n, m, opts=opts()) != want


@pytest.mark.parametrize("listed", [False, True])
def test_tune_takes_arguments_or_one_list(listed):
    x, y, n, m = arguments()
    given = ([x, y, n, m],) if listed else (x, y, n, m)
    found = parpy.tune(outer, *given, seconds=0.05, progress=False, force=True)
    assert isinstance(found, parpy.CompileOptions) and (x == 1).all()


def test_a_tuple_that_is_an_argument_stays_one():
    a, b = np.zeros(4), np.ones(4)
    assert "for i in range" in str(parpy.explain(pair, (a, b)))
    assert "for i in range" in str(parpy.explain(pair, [(a, b)]))
    assert parpy.print_compiled(pair, (a, b)) == parpy.print_compiled(pair, [(a, b)])


def test_too_few_arguments_are_an_error():
    with pytest.raises(TypeError, match="m"):
        parpy.explain(outer, [np.ones((8, 9)), np.ones(8), 8])
    with pytest.raises(TypeError, match="m"):
        parpy.print_compiled(outer, np.ones((8, 9)), np.ones(8), 8)


def test_loops_of_names_in_turns_are_shown_and_counted_once():
    found = parpy.explain(turns, np.ones(10), np.ones(10), 6)
    text = str(found)
    assert text.count("for i in range(1, len(x) - 1):") == 1 and "compiled 2 times" in text
    assert "turn_of" not in text
    assert found.facts["flops"] == 6 * 8
    assert found._tree().count("for i in range(1, len(x) - 1):") == 1
    again, want = (np.arange(10.0), np.zeros(10)), (np.arange(10.0), np.zeros(10))
    turns(*again, 5, opts=found.opts)
    turns(*want, 5, seq=True)
    assert all(map(np.array_equal, again, want))


def lines_of(text: str) -> list[str]:
    return re.findall(r"^ +\d+ +(.*)$", text.partition("Python runs:\n")[2], re.M)


def test_statements_that_python_runs_are_listed():
    found = parpy.explain(partly, np.ones(10), ["b", "a"])
    assert lines_of(str(found)) == [
        'print("first", names)',
        "r = np.linalg.inv(np.eye(3) * x[0])",
        "for t in range(3):",
        "x[t] += r[t, t]",
        "print(t)",
        "return sorted(names)",
    ]
    numbers = [line for line, _ in found.facts["python"]]
    assert numbers[0] == partly.__wrapped__.__code__.co_firstlineno + 2
    assert "Python runs:" in found.html() and "sorted(names)" in found.html()


def test_a_function_that_python_runs_as_a_whole_is_explained():
    class Sensor:
        def __init__(self):
            self.values = np.ones(3)

        def __setattr__(self, name, value):
            super().__setattr__(name, value)

    @parpy.jit
    def read(sensor):
        sensor.count = 3
        return sorted(sensor.values)

    found = parpy.explain(read, Sensor())
    assert "sorted(sensor.values)" in str(found) and found.opts.parallelize == {}


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_the_text_fits_the_terminal(monkeypatch, columns):
    @parpy.jit
    def long_lines(a_long_name_of_an_array, another_name_of_an_array):
        for a_long_name_of_an_index in range(
            1, a_long_name_of_an_array.shape[0] - 1 + 0 * another_name_of_an_array.shape[0]
        ):
            a_long_name_of_an_array[a_long_name_of_an_index] += a_long_name_of_an_array[a_long_name_of_an_index - 1]

    monkeypatch.setenv("COLUMNS", str(columns))
    text = str(parpy.explain(long_lines, np.ones(10), np.ones(10)))
    table = text.partition("\nmapping:")[0].split("\n")
    assert len(table) >= 4 and max(map(len, table)) <= columns
    assert ("…" in text) == (columns == 60)


def test_the_page_needs_nothing_else():
    page = parpy.explain(outer, *arguments()).html()
    assert page.startswith("<!doctype html>") and page.rstrip().endswith("</html>")
    outside = re.findall(r'(?:src|href)="([^"]*)"|url\(([^)]*)\)|<(script|link)\b', page)
    assert not outside and '<meta charset="utf-8">' in page


def test_a_call_is_measured_on_copies():
    x, y, n, m = arguments()
    found = parpy.explain(outer, x, y, n, m, measured=True)
    assert found.facts["measured"]["runs"] >= 3 and found.facts["measured"]["seconds"] > 0
    assert "measured: " in str(found) and (x == 1).all() and (y == 1).all()
    assert "measured" not in str(parpy.explain(outer, x, y, n, m))


# ---------------------------------------------------------------- arguments stay as they are


@parpy.jit
def starred(x, *rest):
    for i in range(len(x)):
        rest[1][i] += x[i] * rest[0]


def measured(function, *given):
    return parpy.explain(function, *given, measured=True)


def tuned(function, *given):
    return parpy.tune(function, *given, seconds=0.05, progress=False, force=True)


@pytest.mark.parametrize("study", [parpy.explain, measured, parpy.print_compiled, parpy.halo, tuned])
def test_functions_with_a_starred_parameter(study):
    x, y = np.ones(50), np.zeros(50)
    assert "i" in str(study(starred, x, 2.0, y)) and not y.any()
    starred(x, 2.0, y)
    assert (y == 2).all()


def test_functions_with_named_arguments_are_refused():
    @parpy.jit
    def named(*rest, **names):
        rest[0][0] = 1

    with pytest.raises(parpy.CompileError, match=r"P006.*'\*\*names' cannot be compiled"):
        parpy.explain(named, np.zeros(3))


@parpy.jit
def with_keywords(x, *, mask=None, mode="sum", factor=2.0):
    for i in range(len(x)):
        x[i] += factor if mask is None and mode == "sum" else 0.0


@parpy.jit
def starred_with_keywords(both, *rest, mask=None, factor=2.0):
    for i in range(len(both[0])):
        both[0][i] += both[1][i] * rest[0] if mask is None else factor


@pytest.mark.parametrize("study", [parpy.explain, measured, parpy.print_compiled, parpy.halo, tuned])
def test_keywords_have_their_defaults(study):
    x, y = np.ones(50), np.zeros(50)
    assert "i" in str(study(with_keywords, y)) and "i" in str(study(starred_with_keywords, (y, x), 3.0))
    assert not y.any()
    with_keywords(y, factor=3.0)
    starred_with_keywords((y, x), 3.0)
    assert (y == 6).all()
    starred_with_keywords((y, x), 3.0, mask=x, factor=1.0)
    assert (y == 7).all()


@parpy.jit
def of_tuple(both, n):
    x, y = both
    for i in range(n):
        y[i] += x[i]


@parpy.jit
def of_dicts(d, n):
    for i in range(n):
        d["a"]["y"][i] += d["x"][i]


@parpy.jit
def of_list(found, n):
    for i in range(n):
        found.append(2 * i)
    found.append(1)


STUDIES = [parpy.explain, measured, parpy.print_compiled, parpy.halo, tuned]


@pytest.mark.parametrize("study", STUDIES)
def test_arrays_in_tuples_and_dicts_do_not_change(study):
    x, y = np.ones(50), np.zeros(50)
    study(of_tuple, (x, y), 50)
    study(of_dicts, {"x": x, "a": {"y": y}}, 50)
    assert not y.any() and (x == 1).all()


@pytest.mark.parametrize("study", STUDIES)
def test_lists_do_not_grow(study):
    found, kept = [7], {"a": 1}
    study(of_list, found, 20)
    assert found == [7]

    @parpy.jit
    def entries(d, x):
        d["b"] = 2
        for i in range(len(x)):
            x[i] += 1

    study(entries, kept, np.zeros(3))
    assert kept == {"a": 1}


class Log:
    def __init__(self):
        self.values, self.lines, self.count = np.zeros(50), [], 0

    @parpy.jit
    def note(self, text):
        self.lines.append(text)
        self.count += 1
        for i in range(len(self.values)):
            self.values[i] += 1


@parpy.jit
def of_pair(both, n):
    for i in range(n):
        both[0].values[i] += both[1][i]


def test_objects_do_not_change():
    log = Log()
    assert "for i in range" in str(parpy.explain(Log.note, log, 3.0))
    parpy.print_compiled(Log.note, log, 3.0)
    parpy.halo(Log.note, log, 3.0)
    for study in (measured, tuned):
        with pytest.raises(TypeError, match="'self' cannot be copied: it is an object"):
            study(Log.note, log, 3.0)
        with pytest.raises(TypeError, match=r"'both\[0\]' cannot be copied: it is an object"):
            study(of_pair, (log, np.zeros(3)), 3)
    assert log.lines == [] and log.count == 0 and not log.values.any()
    log.note(3.0)
    assert log.lines == [3.0] and log.count == 1 and (log.values == 1).all()


@parpy.cuda.jit
def kernel(x):
    i = parpy.cuda.grid(1)
    if i < x.size:
        x[i] = 1


@parpy.cuda.jit(device=True)
def device(x):
    return x + 1


@pytest.mark.parametrize("study", [parpy.explain, parpy.print_compiled, parpy.halo])
def test_functions_that_have_no_loops_to_study(study):
    text = parpy.print_compiled(of_tuple, (np.ones(5), np.zeros(5)), 5)
    made = parpy.compile_string("of_tuple", text)
    with pytest.raises(TypeError, match="'of_tuple' runs generated text"):
        study(made, (np.ones(5), np.zeros(5)), 5)
    for function in (kernel, device):
        with pytest.raises(TypeError, match="is a kernel or device function"):
            study(function, np.zeros(5))
