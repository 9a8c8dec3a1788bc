"""The results of a jit function: numbers, arrays that it allocates or receives; and Python functions that it calls."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options
from fresh_functions import CPU
from parpy.types import F64, buffer, symbol

N = symbol()


def opts_of(backend, **loops):
    return options(backend, loops)


@parpy.jit
def total(x):
    s = 0.0
    parpy.label("i")
    for i in range(x.shape[0]):
        s += x[i]
    return s


@parpy.jit
def stats(x, n):
    if n == 0:
        return 0, np.float32(1)
    m = 0
    parpy.label("i")
    for i in range(n):
        m += 1
    return m, x[0]


@parpy.jit
def squares(x):
    n = x.shape[0]
    y = np.zeros(n)
    parpy.label("i")
    for i in range(n):
        y[i] = x[i] * x[i]
    return y


@parpy.jit
def smoothed(x, times):
    a, b = np.empty_like(x), x.copy() if False else np.zeros_like(x)
    s = 0.0
    parpy.label("i")
    for i in range(x.shape[0]):
        a[i] = x[i]
        s += x[i]
    for _ in range(times):
        parpy.label("i")
        for i in range(1, x.shape[0] - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3
        parpy.label("j")
        for j in range(1, x.shape[0] - 1):
            a[j] = b[j]
    return a, s


seen = []


@parpy.callback
def note(t, x):
    seen.append((t, float(x[0])))
    return t * 2


@parpy.jit
def doubled(x, times):
    for t in range(times):
        parpy.label("i")
        for i in range(x.shape[0]):
            x[i] = 2 * x[i]
        note(t, x)


@parpy.jit
def until(x, limit):
    steps = 0
    while True:
        parpy.label("i")
        for i in range(x.shape[0]):
            x[i] = 2 * x[i]
        steps += 1
        v = note(steps, x)
        if v >= limit:
            break
    return steps


@parpy.jit
def given(x, n):
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i] += n
    return x, n


@pytest.mark.parametrize("backend", TARGETS)
def test_numbers(backend):
    x = np.arange(1000.0)
    assert total(x, opts=opts_of(backend, i=256)) == x.sum() == total(x, seq=True)
    assert total(x.astype(np.float32), opts=opts_of(backend, i=256)) == x.sum()
    found = stats(x.astype(np.float32) + 5, 10, opts=opts_of(backend, i=32))
    assert found == (10, 5.0) and type(found[0]) is int and type(found[1]) is np.float32
    assert stats(x, 0, opts=opts_of(backend)) == (0, 1.0)


@pytest.mark.parametrize(
    "dtype", [np.bool_, np.int8, np.uint64, np.int64, np.float16, np.float64, np.complex64, np.complex128]
)
@pytest.mark.parametrize("backend", TARGETS)
def test_every_type(backend, dtype):
    @parpy.jit
    def first(x):
        return x[0]

    x = np.array([1, 0], dtype)
    found = first(x, opts=opts_of(backend))
    assert found == x[0] and np.asarray(found).dtype == dtype


@parpy.jit
def summed(x):
    parpy.label("i")
    return parpy.sum(x[:]) / 2


@pytest.mark.parametrize("backend", TARGETS)
def test_labels_of_what_is_returned(backend):
    x = np.arange(3000.0)
    assert summed(x, opts=opts_of(backend, i=1024)) == x.sum() / 2 == summed(x, seq=True)


@pytest.mark.parametrize("backend", TARGETS)
def test_run_time_arguments_and_results(backend):
    for n in range(1, 12):
        assert total(np.ones(n), opts=opts_of(backend, i=8)) == n


@pytest.mark.parametrize("backend", TARGETS)
def test_fresh_arrays(backend):
    x = np.arange(100.0)
    y = squares(x, opts=opts_of(backend, i=64))
    assert isinstance(y, np.ndarray) and np.array_equal(y, x * x)
    assert np.array_equal(squares(x), x * x)
    a, s = smoothed(x, 3, opts=opts_of(backend, i=64, j=32))
    want, total_ = smoothed(x, 3, seq=True)
    np.testing.assert_allclose(a, want)
    assert s == total_


@pytest.mark.parametrize("backend", TARGETS)
def test_arguments_are_returned_as_they_are(backend):
    x = np.zeros(5)
    found, n = given(x, 3, opts=opts_of(backend, i=5))
    assert found is x and n == 3 and (x == 3).all()


@pytest.mark.parametrize("backend", TARGETS)
def test_callbacks(backend):
    seen.clear()
    x = np.ones(8)
    doubled(x, 3, opts=opts_of(backend, i=8))
    assert seen == [(0, 2.0), (1, 4.0), (2, 8.0)]
    seen.clear()
    assert until(np.ones(8), 6, opts=opts_of(backend, i=8)) == 3
    assert [s[0] for s in seen] == [1, 2, 3]
    seen.clear()
    assert until(np.ones(8), 6, seq=True) == 3


def test_callbacks_are_functions():
    assert note(2, np.ones(1)) == 4 and note.__name__ == "note"
    assert parpy.callback(note) is note
    with pytest.raises(TypeError, match="takes a function"):
        parpy.callback(3)


def test_callbacks_do_not_run_in_parallel():
    @parpy.jit
    def f(x):
        parpy.label("i")
        for i in range(x.shape[0]):
            note(i, x)

    seen.clear()
    f(np.ones(3), opts=CPU)
    assert len(seen) == 3
    with pytest.raises(parpy.CompileError, match="'i' is mapped, but Python runs the statement that it names"):
        f(np.ones(3), opts=opts_of("cpu", i=3))
    assert len(seen) == 3


def test_labels_of_all_regions_are_known():
    for function, given in ((smoothed, (np.ones(9), 1)), (squares, (np.ones(9),))):
        notes = parpy.explain(function, *given, opts=opts_of("cpu", nowhere=3)).facts["notes"]
        assert "\n".join(notes).count("'nowhere'") == 1
        with pytest.raises(parpy.CompileError, match=r"'I'[\s\S]*write 'i'"):
            function(*given, opts=opts_of("cpu", I=3))


def test_print_compiled_shows_every_region():
    text = parpy.print_compiled(squares, [np.ones(8)], opts_of("cpu", i=8))
    assert text.count("// ---- interface ----") == 1
    again = parpy.compile_string("squares", text)
    np.testing.assert_array_equal(again(np.arange(8.0)), np.arange(8.0) ** 2)
    seen.clear()
    text = parpy.print_compiled(until, [np.ones(8), 10], CPU)
    assert text.count("// ---- interface ----") == 1
    assert not seen
    with pytest.raises(parpy.BackendError, match="Python runs a part of 'until'"):
        parpy.compile_string("until", text)


def test_explain_tells_of_every_region():
    found = parpy.explain(smoothed, np.ones(100), 2, opts=opts_of("cpu", i=8))
    keys = [loop["key"].partition("@")[0] for loop in found.facts["loops"]]
    assert keys.count("i") == 2 and "j" in keys and {key.partition("@")[0] for key in found.mapping} == {"i"}


def test_annotations_of_regions():
    @parpy.jit
    def f(x: buffer(F64, [N])):
        y = np.ones(N)
        for i in range(N):
            y[i] += x[i]
        return y

    assert (f(np.ones(4), opts=CPU) == 2).all() and (f(np.ones(4), seq=True) == 2).all()
    with pytest.raises(TypeError, match="annotation"):
        f(np.ones(4, np.float32), opts=CPU)


def test_closures_defaults_and_keywords(tmp_path):
    def outer(scale):
        @parpy.jit
        def f(x, n=3, *, shift=1.0):
            y = np.zeros(n)
            for i in range(n):
                y[i] = scale * x[i] + shift
            return y

        return f

    f = outer(2.0)
    assert np.array_equal(f(np.ones(3)), [3, 3, 3])
    assert np.array_equal(f(np.ones(3), shift=0.0, opts=CPU), [2, 2, 2])
    with pytest.raises(TypeError):
        f()


def test_values_of_regions():
    @parpy.jit
    def f(x):
        n = 0
        for i in range(x.shape[0]):
            if x[i] > 0:
                n += 1
        y = np.zeros(n)
        k = 0
        for i in range(x.shape[0]):
            if x[i] > 0:
                y[k] = x[i]
                k += 1
        return y

    x = np.array([1.0, -1, 2, -3, 5])
    assert np.array_equal(f(x, opts=CPU), [1, 2, 5])
    assert np.array_equal(f(x, seq=True), [1, 2, 5])


@pytest.mark.parametrize("backend", TARGETS)
def test_functions_that_allocate_call_each_other(backend):
    @parpy.jit
    def twice(x):
        y = squares(x)
        parpy.label("k")
        for k in range(y.shape[0]):
            y[k] *= 2
        z, s = smoothed(y, 0)
        return z, s

    x = np.arange(10.0)
    z, s = twice(x, opts=opts_of(backend, i=16, k=8, j=8))
    assert np.array_equal(z, 2 * x * x) and s == z.sum()
    assert np.array_equal(twice(x)[0], twice(x, seq=True)[0])
    with pytest.raises(parpy.CompileError, match=r"'K'[\s\S]*write 'k'"):
        twice(x, opts=opts_of(backend, K=8))


FACTOR = 2


@parpy.jit
def scaled(v):
    return FACTOR * v


@parpy.jit
def marked(x):
    for i in range(len(x)):
        x[i] = 1
    y = np.zeros(len(x), np.array([max(v, 0) for v in range(2)]).dtype)
    for i in range(len(x)):
        y[i] = scaled(x[i])
    return y


def test_every_region_is_parsed_before_the_first_one_runs(monkeypatch):
    x = np.zeros(3)
    assert (marked(x, opts=CPU) == 2).all()
    x[:] = 0
    with monkeypatch.context() as without:
        without.delitem(globals(), "FACTOR")
        with pytest.raises(parpy.CompileError, match="name 'FACTOR' is not defined"):
            marked(x, opts=CPU)
    monkeypatch.setitem(globals(), "scaled", parpy.jit(_misspelt))
    with pytest.raises(parpy.CompileError, match="name 'FACTR' is not defined"):
        marked(x, opts=CPU)
    assert (x == 0).all()
    monkeypatch.undo()
    assert (marked(x, opts=CPU) == 2).all()


def _misspelt(v):
    return FACTR * v  # noqa: F821


def test_compiled_text_returns_too():
    text = parpy.print_compiled(total, [np.ones(8)], opts_of("cpu", i=8))
    assert parpy.compile_string("total", text)(np.arange(8.0)) == 28
    text = parpy.print_compiled(stats, [np.ones(8), 4], opts_of("cpu"))
    assert parpy.compile_string("stats", text)(np.arange(8.0) + 3, 4) == (4, 3.0)


@parpy.jit
def counted_up(x):
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i] += 1
    return np.zeros(x.shape[0])


@parpy.jit
def counted_twice(x, n=2):
    y = counted_up(x)
    if n > 0:
        counted_twice(x, n=n - 1)
    parpy.label("i")
    for i in range(x.shape[0]):
        y[i] = x[i]


def test_what_python_calls_is_shown_and_not_run():
    x = np.zeros(8)
    text = parpy.print_compiled(counted_twice, (x,), options("cpu", {"i": 4}))
    assert text.count("for (") == 2
    assert not x.any()
    counted_twice(x)
    assert x[0] == 3


@parpy.jit
def gives_nothing(x):
    for i in range(x.shape[0]):
        x[i] += 1
    return ()


def test_the_empty_tuple():
    x = np.zeros(4)
    for _ in range(3):
        assert gives_nothing(x) == gives_nothing(x, seq=True) == ()
    text = parpy.print_compiled(gives_nothing, (x,), CPU)
    assert parpy.compile_string("gives_nothing", text)(x) == ()


@parpy.jit
def returns_entries(d):
    for i in range(len(d["x"])):
        d["x"][i] += d["k"]
    return d["x"], d["k"], d["y"]


def test_entries_of_dicts():
    d = {"x": np.zeros(3), "k": 2, "y": np.ones(2)}
    for count in (1, 2):
        x, k, y = returns_entries(d)
        assert x is d["x"] and k == 2 and y is d["y"]
        assert x.tolist() == [2 * count] * 3


asked = []


@parpy.callback
def twofold(a):
    asked.append(a)
    return a * 2


@parpy.jit
def asks_for_elements(x, n):
    for i in range(n):
        x[i] = twofold(i)
    x[0] += twofold(n)
    x[1], x[2] = twofold(5), twofold(6)


@parpy.jit
def asks_on_the_way(x, n):
    i = 0
    while twofold(i) < 2 * n:
        if twofold(i) > 2:
            x[i] += 1
        i += 1
    for j in range(twofold(1)):
        x[j] += 10
    x[2] += 5 if twofold(i) > 4 else 6


@pytest.mark.parametrize("function", [asks_for_elements, asks_on_the_way])
def test_callbacks_in_values_and_conditions(function):
    got, want = np.zeros(4), np.zeros(4)
    function(want, 3, seq=True)
    wanted = asked.copy()
    asked.clear()
    function(got, 3)
    assert np.array_equal(got, want) and asked == wanted
    asked.clear()
    if function is asks_on_the_way:
        str(parpy.explain(function, got, 3))
    assert not asked


@parpy.jit
def returns_shapes(x):
    x[0] = 1
    return x.shape


def test_shapes_are_results():
    for shape in ((3,), (2, 4)):
        assert returns_shapes(np.zeros(shape)) == shape


@parpy.jit
def entry_is_replaced(d, e):
    s = d["x"].shape
    d["x"] = np.zeros(7)
    return s[0]


@parpy.jit
def other_dict_may_be_the_same(d, e):
    s = d["x"].shape
    e["x"] = np.zeros(7)
    return s[0]


@parpy.jit
def dict_has_another_name(d, e):
    s = d["x"].shape
    other = d
    other["x"] = np.zeros(7)
    return s[0]


@parpy.jit
def gets_an_array(d):
    d["x"] = np.zeros(7)


@parpy.jit
def function_replaces_the_entry(d, e):
    s = d["x"].shape
    gets_an_array(d)
    return s[0]


@parpy.jit
def another_entry_is_replaced(d, e):
    s = d["x"].shape
    d["y"] = np.zeros(7)
    return s[0]


def test_names_for_shapes_of_entries():
    replaced = (
        entry_is_replaced, other_dict_may_be_the_same, function_replaces_the_entry,
    )  # fmt: skip
    for function in replaced:
        entries = {"x": np.zeros(5)}
        assert function(entries, entries) == 5
        assert len(entries["x"]) == 7
    entries = [({"x": np.zeros(5)}, {}) for _ in range(2)]
    assert dict_has_another_name(*entries[0]) == dict_has_another_name.py_func(*entries[1])
    entries = {"x": np.zeros(5), "y": np.zeros(5)}
    assert another_entry_is_replaced(entries, {}) == 5
    assert len(entries["y"]) == 7


@parpy.jit
def bound_that_is_computed(x):
    x[0] = 0.0
    for _ in range(int(x[0])):
        z = np.zeros(int(x[0]) + 2)
        z[0] = x[0] & 1
    return x


@parpy.jit
def condition_that_is_computed(x):
    x[0] = -1.0
    z, n = np.zeros(3), x[0]
    if n > 0:
        z = np.zeros(2)
        z[0] = x[0] & 1
    return z


@parpy.jit
def array_that_is_chosen(x):
    x[0] = -1.0
    z = np.zeros((2, 2)) if x[0] > 0 else np.zeros(3)
    z[1] = 5.0
    z[2] = z[1] + z[0]
    return z


@parpy.callback
def leaves(v: int) -> int:
    raise KeyError(v)


@parpy.jit
def callback_that_leaves(x):
    leaves(1)
    y = np.zeros(3)
    y[0] = x[0] & 3
    return y


@pytest.mark.parametrize("opts", [None, parpy.CompileOptions()])
@pytest.mark.parametrize("function", [bound_that_is_computed, condition_that_is_computed, array_that_is_chosen])
def test_mistakes_in_parts_that_are_not_reached(function, opts):
    got, want = (function(np.arange(1, 6.0), **given) for given in ({"opts": opts}, {"seq": True}))
    assert got.tolist() == want.tolist()
    with pytest.raises(KeyError):
        callback_that_leaves(np.ones(3), opts=opts)
