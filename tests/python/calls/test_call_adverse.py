"""Calls under adverse conditions: arguments and globals that run Python code or change during a call, mistakes of the
caller, and the state that remains afterwards."""

from __future__ import annotations

import collections
import copy
import functools
import gc
import pickle
import re
import subprocess
import sys
import textwrap
import threading
import timeit
import weakref

import numpy as np
import pytest

import parpy
import places
from parpy import _native
from parpy.calls import environment as _environment

CPU = parpy.CompileOptions(backend=parpy.CompileBackend.Cpu)
factor = 1.0


@parpy.jit
def scaled(x, y):
    parpy.label("i")
    for i in range(len(y)):
        y[i] = x[i] * factor


class Runs:
    """An array that runs a function when it is read."""

    def __init__(self, action):
        self.action = action

    def __array__(self, dtype=None, copy=None):
        self.action()
        return np.ones(3)


# ---------------------------------------------------------------- Python code that runs inside a call


def test_options_change_while_the_arguments_are_read():
    options = parpy.CompileOptions(backend=parpy.CompileBackend.Cpu)
    y = np.zeros(3)
    scaled(Runs(lambda: setattr(options, "fast_math", True)), y, opts=options)
    assert y.tolist() == [1, 1, 1]


def forget(monkeypatch):
    """A call within the call drops the compiled code of `scaled`."""
    _native.clear_cache(on_disk=False)
    monkeypatch.setitem(globals(), "factor", lambda: 1)
    with pytest.raises(parpy.CompileError):
        scaled(np.ones(3), np.zeros(3), opts=CPU)
    monkeypatch.setitem(globals(), "factor", 1.0)
    scaled(np.ones(3), np.zeros(3), opts=CPU)
    gc.collect()


def test_code_is_dropped_while_the_arguments_are_read(monkeypatch):
    y = np.zeros(3)
    text = parpy.print_compiled(scaled, (np.ones(3), y), CPU)
    assert parpy.print_compiled(scaled, (Runs(lambda: forget(monkeypatch)), y), CPU) == text
    scaled(Runs(lambda: forget(monkeypatch)), y, opts=CPU)
    assert y.tolist() == [1, 1, 1]


def test_code_is_dropped_while_other_threads_print_it():
    failures = []

    def work():
        y = np.zeros(3)
        try:
            for _ in range(40):
                assert "scaled" in parpy.print_compiled(scaled, (np.ones(3), y), CPU)
                _native.clear_cache(on_disk=False)
                scaled(np.ones(3), y, opts=CPU)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_interrupts_are_no_missing_protocol():
    class Interrupted:
        @property
        def __cuda_array_interface__(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scaled(Interrupted(), np.zeros(3), opts=CPU)


# ---------------------------------------------------------------- arguments


def test_an_unaligned_array_passed_twice_is_one_array():
    x = np.zeros(33, np.uint8)[1:].view(np.float64)
    assert not x.flags.aligned
    both(x, x, opts=CPU)
    assert x.tolist() == [-1, -1, 5, 5]


def test_two_views_of_the_same_unaligned_memory_are_one_array():
    raw = np.zeros(33, np.uint8)
    both(raw[1:].view(np.float64), raw[1:].view(np.float64), opts=CPU)
    assert raw[1:].view(np.float64).tolist() == [-1, -1, 5, 5]


@parpy.jit
def both(a, b):
    for i in range(len(a)):
        a[i] = 5.0
    for i in range(2):
        b[i] = -1.0


@parpy.jit
def add(a, b, out):
    for i in range(len(out)):
        out[i] = a[i] + b[i]


def test_unaligned_views_that_overlap_are_refused_where_one_is_written():
    raw = np.zeros(41, np.uint8)
    x = raw[1:].view(np.float64)
    with pytest.raises(ValueError, match="P556") as caught:
        both(x[:-1], x[1:], opts=CPU)
    assert "is not aligned and has memory in common with argument" in str(caught.value)
    assert not raw.any()
    x[:] = np.arange(5)
    out = np.zeros(3)
    add(x[:-2], x[2:], out, opts=CPU)  # only read: copies are as good
    assert out.tolist() == [2, 4, 6]
    aligned = np.zeros(6, np.float64)
    shifted = aligned.view(np.uint8)[4:-4].view(np.float64)
    with pytest.raises(ValueError, match="P556"):
        both(aligned, shifted, opts=CPU)
    repeated = np.lib.stride_tricks.as_strided(x, (4,), (0,))
    with pytest.raises(ValueError, match="elements that overlap"):
        both(repeated, np.zeros(4), opts=CPU)


@pytest.mark.parametrize("number", [3, 2.5, np.float32(1), np.array(1.0)])
def test_a_number_where_an_array_is_expected(number):
    with pytest.raises(TypeError, match=r"'x' is an? .* and takes no subscripts"):
        scaled(number, np.zeros(3), opts=CPU)


@pytest.mark.parametrize("found", [[1], "text", None, np.zeros(3), 3])
def test_something_else_where_a_dict_is_expected(found):
    @parpy.jit
    def f(d, y):
        y[0] = d["k"]

    with pytest.raises(parpy.CompileError, match=r"P557\]: argument d\['k'\] is read from an object of type"):
        f(found, np.zeros(1), opts=CPU)
    with pytest.raises(TypeError, match=r"'d\['k'\]' is None here, but is used as a number"):
        f({"k": None}, np.zeros(1), opts=CPU)
    with pytest.raises(KeyError) as caught:
        f({}, np.zeros(1), opts=CPU)
    assert "argument d['k'] is read, but the dict has no such key" in str(caught.value)
    with pytest.raises(KeyError) as caught:
        f(Missing(), np.zeros(1), opts=CPU)
    assert caught.value.__notes__ == ["while ParPy read argument d['k']"]


class Missing(collections.UserDict):
    pass


def test_dicts_of_which_some_keys_are_read():
    @parpy.jit
    def f(d, y):
        for i in range(len(y)):
            y[i] = d["a"] + d["b"]

    y, good = np.zeros(2), {"a": 1.0, "b": 2.0, "c": "any", 3: 1.0, "inner": {}, (): None}
    f(good, y, opts=CPU)
    assert y.tolist() == [3, 3]
    with pytest.raises(TypeError, match=r"P204\]: 'd\['b'\]' is a dict, but is used as a number") as error:
        f({**good, "b": {"c": 1.0}}, y, opts=CPU)
    assert 'y[i] = d["a"] + d["b"]' in str(error.value)
    few, many = good, {**{k: k for k in range(300_000)}, **good}
    f(many, y, opts=CPU)
    calls = [functools.partial(f, d, y, opts=CPU) for d in (few, many)]
    costs = [min(timeit.repeat(call, number=20, repeat=5)) for call in calls]
    assert costs[1] < 20 * costs[0]
    with pytest.raises(parpy.CompileError, match=r"P558\]: argument d\['b'\] is read, but") as error:
        f({"a": 1, "B": 2}, y, opts=CPU)
    assert isinstance(error.value, KeyError)
    assert 'y[i] = d["a"] + d["b"]' in str(error.value)
    assert "its keys are 'a', 'B'" in str(error.value)


# ---------------------------------------------------------------- decorators


def through(function):
    @functools.wraps(function)
    def wrapper(*arguments, **options):
        return function(*arguments, **options)

    return wrapper


def test_a_wrapper_is_refused_for_its_parameters():
    wrapped = parpy.jit(through(lambda x: None))
    for call in (lambda: wrapped(np.zeros(1)), lambda: wrapped(x=1, y=2)):
        with pytest.raises(parpy.CompileError, match=r"P006\]: the parameter '\*\*options'"):
            call()


@pytest.mark.parametrize(
    ("found", "fix"),
    [
        (staticmethod(print), "write @staticmethod above @parpy.jit"),
        (classmethod(print), "write @classmethod above @parpy.jit"),
        (Runs(print).__array__, "decorate the function where the class defines it"),
    ],
)
def test_methods_are_decorated_in_the_right_order(found, fix):
    with pytest.raises(parpy.CompileError, match=fix):
        parpy.jit(found)


def test_the_decorator_may_be_called():
    @parpy.jit()
    def ones(y):
        for i in range(len(y)):
            y[i] = 1

    y = np.zeros(3)
    ones(y)
    assert y.all()
    with pytest.raises(parpy.CompileError, match="P001"):
        parpy.jit(None)


@pytest.mark.parametrize(
    ("name", "value", "warned"),
    [
        ("PARPY_NUM_THREADS", "many", True),
        ("PARPY_CHUNKS", "0", True),
        ("PARPY_CHUNKS", "7", False),
        ("PARPY_NUM_THREADS", "0", True),
        ("PARPY_NUM_THREADS", "2x", True),
        ("PARPY_NUM_THREADS", "2", False),
        ("PARPY_NUM_THREADS", "", False),
        ("PARPY_CACHE_SIZE", "-1", True),
        ("PARPY_CACHE_SIZE", "1e9", True),
        ("PARPY_CACHE_SIZE", "0", False),
        ("PARPY_SCANS", "off", True),
        ("PARPY_BLOCK_STEPS", "0", False),
    ],
)
def test_nonsense_in_the_environment_is_warned_of(name, value, warned, monkeypatch, recwarn):
    monkeypatch.setenv(name, value)
    _environment.warn()
    assert [str(w.message).startswith(f"the environment variable {name} is {value!r}") for w in recwarn] == [
        True
    ] * warned


def test_every_number_that_the_core_reads_is_checked():
    """The core ignores values that are not numbers: the warning is all that a user sees."""
    read = re.compile(r'(?:environment_number|wanted_by)\("(\w+)"\)')
    names = {name for file in (places.ROOT / "src").rglob("*.cpp") for name in read.findall(file.read_text())}
    assert len(names) > 5 and names <= set(_environment._NUMBERS)


def test_functions_are_pickled_by_name():
    assert pickle.loads(pickle.dumps(scaled)) is scaled
    assert copy.copy(scaled) is scaled
    assert copy.deepcopy([scaled]) == [scaled]


# ---------------------------------------------------------------- attributes of classes


class Settings:
    scale = 1.0
    total = np.zeros(1)


class Special(Settings):
    pass


def test_an_attribute_hides_that_of_the_base_class():
    @parpy.jit
    def f(y):
        y[0] = Special.scale

    y = np.zeros(1)
    f(y, opts=CPU)
    assert y[0] == 1
    Special.scale = 7.0
    f(y, opts=CPU)
    assert y[0] == 7


def test_an_attribute_named_twice_is_one_array():
    @parpy.jit
    def f(x):
        parpy.label("i")
        for i in range(len(x)):
            Settings.total[0] = Settings.total[0] + x[i]

    many = parpy.CompileOptions(backend=parpy.CompileBackend.Cpu, parallelize={"i": parpy.threads(8)})
    f(np.ones(1_000_000), opts=many)
    assert Settings.total[0] == 1_000_000


# ---------------------------------------------------------------- remaining state


def test_types_of_arguments_are_collected():
    class Exported:
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **options):
            return np.ones(3).__dlpack__()

    y = np.zeros(3)
    scaled(Exported(), y, opts=CPU)
    scaled(Exported(), y, opts=CPU)
    gone = weakref.ref(Exported)
    del Exported
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("ask", [parpy.print_compiled, lambda f, args: parpy.explain(f, *args)])
def test_refused_arguments_are_let_go(ask):
    x = np.ones(3)
    before = sys.getrefcount(x)
    for wrong in (object(), np.zeros(3, "M8[s]"), None):
        with pytest.raises(TypeError):
            ask(scaled, (x, wrong))
    gc.collect()
    assert sys.getrefcount(x) == before


def test_nothing_is_said_at_exit(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(
        textwrap.dedent(
            """
            import numpy as np, parpy

            class Exported:
                def __dlpack_device__(self):
                    return (1, 0)
                def __dlpack__(self, **options):
                    return np.ones(3).__dlpack__()

            @parpy.jit
            def f(x, y):
                for i in range(len(y)):
                    y[i] = x[i]

            f(Exported(), np.zeros(3))
            """
        )
    )
    ran = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=True)
    assert ran.stdout + ran.stderr == ""


@parpy.jit
def fields_scaled(r):
    for i in range(len(r["x"])):
        r["x"][i] *= 2
        r["v"][i, 0] = r["v"][i, 2] + r["x"][i]
        r["b"][i] = not r["b"][i]


FIELDS = [("b", "?"), ("x", "f8"), ("v", "f4", 3), ("c", "c8")]


@pytest.mark.parametrize("dtype", [np.dtype(FIELDS), np.dtype(FIELDS, align=True), np.dtype([("i", "i1"), *FIELDS])])
def test_fields_of_unaligned_records_lie_between_each_other(dtype):
    given = np.zeros(9, dtype)
    given["x"], given["v"], given["c"] = np.arange(9), np.arange(27).reshape(9, 3), np.arange(9) + 1j
    for records in (given[1:], given[::-2], given[:1]):
        want = records.copy()
        want["x"] *= 2
        want["v"][:, 0] = want["v"][:, 2] + want["x"]
        want["b"] = ~want["b"]
        others = given["c"].copy()
        fields_scaled({name: records[name] for name in "xvb"}, opts=CPU)
        np.testing.assert_array_equal(records, want)
        np.testing.assert_array_equal(given["c"], others)


@parpy.jit
def shifted(a, b):
    for i in range(len(a)):
        a[i] = b[i]


def test_one_field_of_unaligned_records_twice():
    given = np.zeros(9, FIELDS)
    with pytest.raises(ValueError, match="P556"):
        shifted(given["x"][:-1], given["x"][1:], opts=CPU)


class WithoutShape:
    @property
    def __array_interface__(self):
        return {"typestr": "<f8", "version": 3, "data": (0, False)}


class WithoutDevice:
    def __dlpack_device__(self):
        return None

    def __dlpack__(self, **_):
        raise AssertionError("not reached")


@parpy.jit
def stores_one(x):
    x[0] = 1


@parpy.jit
def takes_float(x, k: parpy.types.F32):
    x[0] = k


@parpy.jit
def uses_entries(d):
    parpy.label("i")
    for i in range(1, 4):
        d["x"][i] = d["x"][i - 1]


@parpy.jit
def uses_entry_as_number(d):
    d["x"][0] = d["x"][:] * 2
    return 0


@parpy.jit
def reduces_twice(x):
    x[0, :] = parpy.sum(x[:, :], axis=(0, -2))


@parpy.jit
def labelled(x):
    parpy.label("i")
    for i in range(3):
        x[i] += 1


MAPPED = parpy.par({"i": parpy.threads(3)}, backend=parpy.CompileBackend.Cpu)


@pytest.mark.parametrize(
    "call, kind, message",
    [
        (lambda: stores_one(WithoutShape()), TypeError, "'x' has a malformed __array_interface__: .*shape"),
        (lambda: stores_one(WithoutDevice()), TypeError, "'x' has a malformed __dlpack_device__"),
        (lambda: takes_float(np.zeros(1), True), TypeError, "'k' is a Python bool, but its annotation says"),
        (
            lambda: uses_entries({"x": np.zeros(4)}, opts=MAPPED),
            RuntimeError,
            r"writes d\['x'\]\[1\], .*reads d\['x'\]",
        ),
        (
            lambda: uses_entry_as_number({"x": np.zeros(4)}),
            TypeError,
            r"(?s)array 'd\['x'\]' is used as.*store the result",
        ),
        (lambda: reduces_twice(np.zeros((2, 2))), ValueError, "axis -2 is reduced twice"),
        (
            lambda: labelled(np.lib.stride_tricks.as_strided(np.zeros(1), (3,), (0,)), opts=MAPPED),
            RuntimeError,
            r"iteration i=1 writes x\[1\], which is the same memory",
        ),
    ],
)
def test_messages(call, kind, message):
    with pytest.raises(kind, match=message) as error:
        call()
    assert "test_call_adverse.py" in str(error.value)


def test_variables_of_functions_around_without_a_value():
    @parpy.jit
    def f(x):
        x[0] = later

    with pytest.raises(NameError, match=r"(?s)'later' is not defined.*help: define it before"):
        f(np.zeros(1))
    later = 1.0
    f(x := np.zeros(1))
    assert x[0] == 1


@parpy.jit
def with_a_mode(x, mode="fast", scratch=None, n=1):
    x[0] += n


def test_parameters_that_compiled_code_does_not_use():
    x = np.zeros(1)
    with_a_mode(x)
    with_a_mode(x, "slow", n=2)
    with_a_mode(x, None, np.zeros((2, 2)), 3)
    with_a_mode(x, scratch="text")
    for n in range(10):
        with_a_mode(x, n=n)
    assert x[0] == 7 + 45
