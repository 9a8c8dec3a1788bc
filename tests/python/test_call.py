"""The call path: binding, kinds of arguments, specialisation and generalisation, aliasing, captures, threads."""

from __future__ import annotations

import array
import ctypes
import gc
import os
import subprocess
import sys
import textwrap
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

import parpy

CPU = parpy.CompileOptions(backend=parpy.CompileBackend.Cpu)


def on_cpu(**loops: int) -> parpy.CompileOptions:
    mapping = {label: parpy.threads(n) for label, n in loops.items()}
    return parpy.CompileOptions(parallelize=mapping, backend=parpy.CompileBackend.Cpu)


def fresh(body: str, tmp_path: Path, name: str = "f", **names: object):
    """A jit function of its own from source text."""
    file = tmp_path / f"{name}_{len(list(tmp_path.iterdir()))}.py"
    text = textwrap.dedent(body)
    file.write_text(text)
    space: dict[str, object] = {"parpy": parpy, "np": np, **names}
    exec(compile(text, str(file), "exec"), space)
    return space if name == "__dict__" else space[name]


ADD = """
    @parpy.jit
    def f(x, y, n, a):
        parpy.label('i')
        for i in range(n):
            y[i] = y[i] + a * x[i]
"""


# ---------------------------------------------------------------- binding


@parpy.jit
def defaults(x, a, b=10, *, c=100):
    x[0] = a + b + c


@pytest.mark.parametrize(
    ("call", "want"),
    [
        (lambda x: defaults(x, 1, opts=CPU), 111),
        (lambda x: defaults(x, 1, 2, opts=CPU), 103),
        (lambda x: defaults(x, a=1, b=2, opts=CPU), 103),
        (lambda x: defaults(b=2, x=x, a=1, c=3, opts=CPU), 6),
        (lambda x: defaults(x, 1, seq=True), 111),
        (lambda x: defaults(x, 1, c=5, seq=True), 16),
    ],
)
def test_arguments_bind_as_in_python(call, want):
    x = np.zeros(1)
    assert call(x) is None
    assert x[0] == want


@pytest.mark.parametrize(
    "call",
    [
        lambda f, x: f(),
        lambda f, x: f(x),
        lambda f, x: f(x, 1, 2, 3),
        lambda f, x: f(x, 1, d=3),
        lambda f, x: f(x, 1, a=3),
    ],
)
def test_wrong_arguments_are_worded_by_python(call):
    x = np.zeros(1)
    with pytest.raises(TypeError) as ours:
        call(defaults, x)
    with pytest.raises(TypeError) as pythons:
        call(defaults.__wrapped__, x)
    assert str(ours.value) == str(pythons.value)


def test_positional_only_parameters(tmp_path):
    f = fresh(
        """
        @parpy.jit
        def f(x, /, a):
            x[0] = a
        """,
        tmp_path,
    )
    x = np.zeros(1)
    f(x, a=3, opts=CPU)
    assert x[0] == 3
    with pytest.raises(TypeError, match="positional-only arguments passed as keyword arguments: 'x'"):
        f(x=x, a=3, opts=CPU)


def test_jit_functions_run_by_python_call_each_other_in_python(tmp_path):
    space = fresh(
        """
        @parpy.jit
        def g(a):
            return a, 'anything'

        @parpy.jit
        def f(x, a=1):
            x[0] = len(g(a))
        """,
        tmp_path,
        "__dict__",
    )
    x = np.zeros(1)
    space["f"](x, seq=True)
    assert x[0] == 2


def test_a_parameter_called_opts_wins(tmp_path):
    f = fresh(
        """
        @parpy.jit
        def f(x, seq):
            x[0] = seq
        """,
        tmp_path,
    )
    x = np.zeros(1)
    f(x, seq=7)
    assert x[0] == 7


def test_it_looks_like_the_function():
    def plain(x):
        """Says what it does."""
        x[0] = 1

    f = parpy.jit(plain)
    assert (f.__name__, f.__doc__, f.__module__) == (
        "plain",
        "Says what it does.",
        __name__,
    )
    assert f.__qualname__ == plain.__qualname__
    assert f.__wrapped__ is plain
    assert parpy.jit(f) is f
    assert "plain" in repr(f)


def test_it_is_a_method_where_functions_are():
    class Owner:
        @staticmethod
        @parpy.jit
        def on(x):
            x[0] = 3

        @parpy.jit
        def on_self(self):
            pass

    x = np.zeros(1)
    Owner().on(x, opts=CPU)
    assert x[0] == 3
    with pytest.raises(TypeError, match="argument 'self' is of type 'Owner'"):
        Owner().on_self()


def test_opts_must_be_options():
    with pytest.raises(
        TypeError,
        match=r"opts must be a parpy.CompileOptions, not dict; write opts=parpy.par",
    ):
        defaults(np.zeros(1), 1, opts={})


# ---------------------------------------------------------------- kinds of arguments


@parpy.jit
def store(x, value):
    x[0] = value


@parpy.jit
def increment(x, n):
    for i in range(n):
        x[i] += 1


@pytest.mark.parametrize(
    "value",
    [
        True,
        3,
        -3,
        2.5,
        np.int8(-3),
        np.uint64(2**63 + 1),
        np.float32(1.1),
        np.float64(1.1),
        np.bool_(True),
        np.array(4),
        np.array(1.5, np.float32),
        np.float16(1.5),
    ],
    ids=repr,
)
def test_scalars(value):
    x = np.zeros(1, np.asarray(value).dtype)
    store(x, value, opts=CPU)
    assert x[0] == value


def test_python_floats_are_weak_and_numpy_scalars_are_not(tmp_path):
    f = fresh(
        """
        @parpy.jit
        def f(x, out, a):
            out[0] = x[0] + a
        """,
        tmp_path,
    )
    for a in (1e-9, np.float64(1e-9)):
        x, out = np.ones(1, np.float32), np.zeros(1)
        f(x, out, a, opts=CPU)
        want = np.zeros(1)
        want[0] = x[0] + a
        assert out[0] == want[0]


@pytest.mark.parametrize("value", [1 + 2j, np.complex64(1 + 2j), np.complex128(3 - 1j)])
def test_complex_scalars(tmp_path, value):
    f = fresh(
        """
        @parpy.jit
        def f(x, out, a):
            out[0] = x[0] * a
        """,
        tmp_path,
    )
    out = np.zeros(1, complex)
    f(np.full(1, 2 + 1j), out, value, opts=CPU)
    assert out[0] == (2 + 1j) * value


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"])
def test_element_types(dtype):
    x = np.array([0, 1, 0], dtype)
    y = np.zeros(3, dtype)
    f = parpy.jit(copy)
    f(x, y, 3, opts=CPU)
    np.testing.assert_array_equal(x, y)


def copy(x, y, n):
    for i in range(n):
        y[i] = x[i]


copied = parpy.jit(copy)


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[::2],
        lambda a: a[::-1],
        lambda a: a[5:6],
        lambda a: a[:0],
        lambda a: a[1::3],
        lambda a: np.broadcast_to(a[:1], (7,)),
    ],
)
def test_any_strides(view):
    base = np.arange(12.0)
    x = view(base)
    y = np.zeros(x.size)
    copied(x, y, x.size, opts=CPU)
    np.testing.assert_array_equal(x, y)


def test_stores_through_strides():
    base = np.zeros(12)
    increment(base[::-3], 4, opts=CPU)
    np.testing.assert_array_equal(base, [0, 0, 1] * 4)


def test_unaligned_arrays_are_read_and_written():
    raw = np.zeros(41, np.uint8)
    x = raw[1:].view(np.float64)
    assert not x.flags.aligned
    x[:] = 2
    increment(x, 5, opts=CPU)
    np.testing.assert_array_equal(x, 3)


def test_strides_that_are_no_multiple_of_the_element_size():
    x = np.zeros(4, np.dtype([("a", "u1"), ("b", "<f4")], align=False))["b"]
    assert x.strides == (5,)
    increment(x, 4, opts=CPU)
    np.testing.assert_array_equal(x, 1)


def test_fields_of_structured_arrays():
    pairs = np.zeros(5, [("a", "f8"), ("b", "f8")])
    increment(pairs["b"], 5, opts=CPU)
    assert pairs["b"].tolist() == [1] * 5
    assert pairs["a"].tolist() == [0] * 5


def test_buffers():
    numbers = array.array("d", [1, 2, 3])
    increment(numbers, 3, opts=CPU)
    assert numbers.tolist() == [2, 3, 4]
    increment(memoryview(numbers), 3, opts=CPU)
    assert numbers.tolist() == [3, 4, 5]
    native = (ctypes.c_int32 * 2)(5, 6)
    increment(native, 2, opts=CPU)
    assert list(native) == [6, 7]


class HasInterface:
    def __init__(self, inner):
        self.inner = inner
        self.__array_interface__ = inner.__array_interface__


class HasArray:
    def __init__(self, inner):
        self.inner = inner

    def __array__(self, dtype=None, copy=None):
        return self.inner.copy()


class HasDlpack:
    def __init__(self, inner, versioned):
        self.inner, self.versioned = inner, versioned

    def __dlpack_device__(self):
        return self.inner.__dlpack_device__()

    def __dlpack__(self, **keywords):
        if self.versioned:
            return self.inner.__dlpack__(**keywords)
        if keywords:
            raise TypeError("an exporter from before version 1")
        return self.inner.__dlpack__()


@pytest.mark.parametrize("wrap", [HasInterface, lambda a: HasDlpack(a, True), lambda a: HasDlpack(a, False)])
def test_array_protocols_share_memory(wrap):
    x = np.arange(4.0)
    increment(wrap(x), 4, opts=CPU)
    np.testing.assert_array_equal(x, [1, 2, 3, 4])


def test_dlpack_memory_is_released():
    x = np.arange(4.0)
    alive = weakref.ref(x)
    increment(HasDlpack(x, True), 4, opts=CPU)
    del x
    gc.collect()
    assert alive() is None


def test_a_copy_that_nobody_would_see_is_read_only():
    y = np.zeros(3)
    copied(HasArray(np.arange(3.0)), y, 3, opts=CPU)
    assert y.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="P207"):
        increment(HasArray(y), 3, opts=CPU)


def test_dict_arguments(tmp_path):
    f = fresh(
        """
        @parpy.jit
        def f(d, n):
            for i in range(n):
                d['y'][i] = d['x'][i] * d['a']
        """,
        tmp_path,
    )
    d = {"x": np.arange(4.0), "y": np.zeros(4), "a": 2.0, "unused": object()}
    f(d, 4, opts=CPU)
    assert d["y"].tolist() == [0, 2, 4, 6]
    with pytest.raises(KeyError, match="'a'"):
        f({"x": d["x"], "y": d["y"]}, 4, opts=CPU)
    with pytest.raises(TypeError, match="P557"):
        f(d["x"], 4, opts=CPU)


# ---------------------------------------------------------------- arguments that are refused


class Device:
    """Memory that is said to be on a GPU."""

    def __init__(self, **changes):
        self.__cuda_array_interface__ = {
            "shape": (3,),
            "typestr": "<f8",
            "data": (4096, False),
            "version": 3,
            "strides": None,
            **changes,
        }


class Masked(np.ma.MaskedArray):
    pass


REFUSED = [
    ([1.0], "P550", "argument 'x' is of type 'list'", "np.array(x)"),
    (None, "P550", "argument 'x' is None", "pass a NumPy array"),
    ("text", "P550", "argument 'x' is of type 'str'", "pass a NumPy array"),
    (np.ma.array([1.0]), "P550", "argument 'x' is a masked array", "x.filled(value)"),
    (np.zeros(1, object), "P551", "elements of type 'object'", "astype(float)"),
    (np.zeros(1, "U3"), "P551", "elements of type '<U3'", "element types are"),
    (np.zeros(1, "M8[s]"), "P551", "elements of type 'datetime64[s]'", "x.view('i8')"),
    (np.zeros(1, "i4,f4"), "P551", "'f0'", "one by one"),
    (
        np.zeros(1, np.longdouble),
        "P551",
        "longdouble" if os.name == "nt" else "float128",
        "astype('f8')",
    ),
    (np.zeros(1, ">f8"), "P552", "byte order is not this machine's", "newbyteorder"),
    (np.float64(1).astype(">f8"), None, "", ""),
    (2**70, "P553", "does not fit 64 bits: 1180591620717411303424", "np.uint64"),
    (np.zeros((1,) * 17), "P554", "has 17 dimensions", "up to 16"),
    (Device(shape=3), "P555", "malformed __cuda_array_interface__", "'typestr'"),
    (
        Device(strides=(7,)),
        "P556",
        "no multiples of its element size",
        "contiguous copy",
    ),
    (Device(), "P559", "lies on a CUDA device", "CompileBackend.Cuda"),
]


@pytest.mark.parametrize(("x", "code", "message", "help_text"), [r for r in REFUSED if r[1]])
def test_refused_arguments(x, code, message, help_text):
    with pytest.raises(parpy.CompileError) as caught:
        increment(x, 1, opts=CPU)
    text = str(caught.value)
    assert caught.value.codes == (code,)
    line = increment.__wrapped__.__code__.co_firstlineno + 1
    assert text.startswith(f"{Path(__file__)}:{line}:15: error[{code}]: argument 'x' ") or f":{line}:15: error" in text
    assert message in text
    assert help_text in text.split("help: ")[1]


def test_a_store_to_a_read_only_array_is_refused_before_anything_runs():
    x, y = np.arange(3.0), np.zeros(3)
    y.flags.writeable = False
    with pytest.raises(ValueError, match="'y' is a read-only array"):
        copied(x, y, 3, opts=CPU)
    assert y.tolist() == [0, 0, 0]
    y.flags.writeable = True
    copied(x, y, 3, opts=CPU)
    x.flags.writeable = False
    copied(x, y, 3, opts=CPU)


def test_backends_of_later_versions():
    with pytest.raises(parpy.BackendError, match="P560"):
        increment(
            np.zeros(1),
            1,
            opts=parpy.CompileOptions(backend=parpy.CompileBackend.Metal),
        )


# ---------------------------------------------------------------- specialisation


def test_same_arguments_compile_once(tmp_path):
    f = fresh(ADD, tmp_path)
    x, y = np.ones(8), np.zeros(8)
    for _ in range(5):
        f(x, y, 8, 2.0, opts=CPU)
    assert f.cache_info() == (1, 1, ())
    assert y.tolist() == [10.0] * 8


def test_values_that_keep_changing_become_arguments(tmp_path):
    f = fresh(ADD, tmp_path)
    for n in range(1, 20):
        x, y = np.ones(n), np.zeros(n)
        f(x, y, n, 2.0, opts=CPU)
        assert y.tolist() == [2.0] * n
    info = f.cache_info()
    assert info.compilations == 4
    assert info.run_time == ("x.shape[0]", "y.shape[0]", "n")
    for a in range(10):
        x, y = np.ones(5), np.zeros(5)
        f(x, y, 5, float(a), opts=CPU)
        assert y.tolist() == [float(a)] * 5
    assert f.cache_info().compilations <= 8
    assert "a" in f.cache_info().run_time


def test_run_time_strides(tmp_path):
    f = fresh(ADD, tmp_path)
    for step in (1, 2, 3, 4, 5, 6, -1, -2):
        x, y = np.arange(60.0)[::step][:8], np.zeros(60)[::step][:8]
        f(x, y, 8, 1.0, opts=CPU)
        np.testing.assert_array_equal(x, y)
    assert f.cache_info().compilations <= 6
    assert "x.strides[0]" in f.cache_info().run_time


def test_run_time_extents_of_matrices(tmp_path):
    f = fresh(
        """
        @parpy.jit
        def f(x, y):
            n, m = x.shape
            for i in range(n):
                for j in range(m):
                    y[i] += x[i, j]
        """,
        tmp_path,
    )
    rng = np.random.default_rng(0)
    for n in range(1, 8):
        x = rng.random((n, 9 - n))
        for each in (x, x.T, x[::-1]):
            y = np.zeros(len(each))
            f(each, y, opts=CPU)
            np.testing.assert_allclose(y, each.sum(axis=1))


def test_types_do_not_share_code(tmp_path):
    f = fresh(ADD, tmp_path)
    for dtype in (np.float32, np.float64, np.int32):
        x, y = np.ones(3, dtype), np.zeros(3, dtype)
        f(x, y, 3, 2, opts=CPU)
        assert y.tolist() == [2] * 3
    assert f.cache_info().compilations == 3


def test_equal_options_share_code(tmp_path):
    f = fresh(ADD, tmp_path)
    x, y = np.ones(3), np.zeros(3)
    for _ in range(4):
        f(x, y, 3, 1.0, opts=on_cpu(i=3))
    assert f.cache_info().compilations == 1
    f(x, y, 3, 1.0, opts=on_cpu(i=2))
    assert f.cache_info().compilations == 2


def test_assigning_to_options_takes_effect(tmp_path):
    f = fresh(ADD, tmp_path)
    x, y = np.ones(3), np.zeros(3)
    opts = on_cpu(i=3)
    f(x, y, 3, 1.0, opts=opts)
    opts.parallelize = {"nowhere": parpy.threads(3)}
    with pytest.raises(parpy.CompileError, match="nowhere"):
        f(x, y, 3, 1.0, opts=opts)


# ---------------------------------------------------------------- overlapping arguments


@parpy.jit
def shift(x, y, n):
    for i in range(n):
        y[i] = x[i] + 1


def test_overlapping_arguments_are_seen(tmp_path):
    f = parpy.jit(shift.__wrapped__)
    base = np.zeros(9)
    f(base[:-1].copy(), base[1:], 8, opts=CPU)
    assert base.tolist() == [0] + [1] * 8
    before = f.cache_info().compilations
    base[:] = 0
    for _ in range(2):
        base[:] = 0
        f(base[:-1], base[1:], 8, opts=CPU)
        assert base.tolist() == list(range(9))
    assert f.cache_info().compilations == before + 1
    base[:] = 0
    f(base[:-1], base[1:], 8, seq=True)
    assert base.tolist() == list(range(9))


def test_overlap_at_the_first_call():
    f = parpy.jit(shift.__wrapped__)
    base = np.zeros(65)
    f(base[:-1], base[1:], 64, opts=CPU)
    assert base.tolist() == list(range(65))
    separate = np.zeros(64)
    f(np.zeros(64), separate, 64, opts=CPU)
    assert separate.tolist() == [1] * 64


def test_the_same_array_twice():
    f = parpy.jit(shift.__wrapped__)
    x = np.zeros(5)
    f(x, x, 5, opts=CPU)
    assert x.tolist() == [1] * 5


# ---------------------------------------------------------------- captured values

SCALE = 2.0


@parpy.jit
def scaled(x):
    x[0] = SCALE


def test_globals_are_read_at_each_call(monkeypatch):
    x = np.zeros(1)
    for value in (2.0, 3.0, 4.0, 5.0, 6.0, 7.0):
        monkeypatch.setitem(globals(), "SCALE", value)
        scaled(x, opts=CPU)
        assert x[0] == value
    assert scaled.cache_info().compilations <= 4
    monkeypatch.delitem(globals(), "SCALE")
    with pytest.raises(NameError):
        scaled(x, opts=CPU)


def test_closures_are_read_at_each_call():
    value = 1

    @parpy.jit
    def f(x):
        x[0] = value

    x = np.zeros(1)
    f(x, opts=CPU)
    assert x[0] == 1
    value = 5
    f(x, opts=CPU)
    assert x[0] == 5


def test_redefined_helpers_never_run_old_code(tmp_path):
    space: dict[str, object] = {"parpy": parpy}

    def define(text: str) -> None:
        file = tmp_path / f"cell_{len(list(tmp_path.iterdir()))}.py"
        file.write_text(textwrap.dedent(text))
        exec(compile(file.read_text(), str(file), "exec"), space)

    define("""
        @parpy.jit
        def helper(a):
            return a + 1
        """)
    define("""
        @parpy.jit
        def f(x):
            x[0] = helper(1)
        """)
    x = np.zeros(1)
    space["f"](x, opts=CPU)
    assert x[0] == 2
    define("""
        @parpy.jit
        def helper(a):
            return a + 100
        """)
    space["f"](x, opts=CPU)
    assert x[0] == 101


def test_a_function_defined_anew_runs_its_new_code(tmp_path):
    x = np.zeros(1)
    for value in (1, 2):
        f = fresh(
            f"""
            @parpy.jit
            def f(x):
                x[0] = {value}
            """,
            tmp_path,
        )
        f(x, opts=CPU)
        assert x[0] == value


def test_clear_cache_forgets(tmp_path, monkeypatch):
    monkeypatch.setenv("PARPY_CACHE_DIR", str(tmp_path / "cache"))
    f = fresh(ADD, tmp_path)
    x, y = np.ones(3), np.zeros(3)
    f(x, y, 3, 1.0, opts=CPU)
    parpy.clear_cache()
    f(x, y, 3, 1.0, opts=CPU)
    assert f.cache_info().compilations == 1
    assert y.tolist() == [2] * 3


def test_functions_are_collected(tmp_path):
    f = fresh(ADD, tmp_path)
    f(np.ones(3), np.zeros(3), 3, 1.0, opts=CPU)
    gone = weakref.ref(f)
    del f
    gc.collect()
    assert gone() is None


# ---------------------------------------------------------------- threads and processes


def test_eight_threads_compile_a_function_once(tmp_path):
    f = fresh(ADD, tmp_path)
    barrier = threading.Barrier(8)
    results: list[np.ndarray] = [np.zeros(100) for _ in range(8)]
    errors: list[BaseException] = []

    def work(y: np.ndarray) -> None:
        try:
            barrier.wait()
            for _ in range(50):
                f(np.ones(100), y, 100, 1.0, opts=CPU)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(y,)) for y in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert f.cache_info() == (1, 1, ())
    assert all((y == 50).all() for y in results)


def test_eight_threads_with_different_shapes(tmp_path):
    f = fresh(ADD, tmp_path)
    errors: list[BaseException] = []

    def work(k: int) -> None:
        try:
            for n in range(1, 12):
                y = np.zeros(n + k)
                f(np.ones(n + k), y, n + k, 3.0, opts=CPU)
                assert (y == 3).all()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert f.cache_info().compilations < 12


PROGRAM = """
import sys
import numpy as np, parpy
@parpy.jit
def f(x, n):
    parpy.label('i')
    for i in range(n):
        x[i] = 3 * i
x = np.zeros(1000)
f(x, 1000, opts=parpy.CompileOptions(parallelize={'i': parpy.threads(1000)}, backend=parpy.CompileBackend.Cpu))
assert (x == 3 * np.arange(1000)).all()
print(parpy.print_compiled(f, [x, 1000], parpy.CompileOptions(backend=parpy.CompileBackend.Cpu)))
"""


def test_processes_share_the_disk_cache(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    environment = {
        **os.environ,
        "PARPY_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONHASHSEED": "random",
    }
    running = [
        subprocess.Popen(
            [sys.executable, str(program)],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    texts = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert texts[0] == texts[1] != ""
    again = subprocess.run(
        [sys.executable, str(program)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert again.stdout == texts[0]


# ---------------------------------------------------------------- looking inside


def test_debug_prints_the_stages(capsys):
    x = np.zeros(2)
    increment(x, 2, opts=CPU, debug=True)
    shown = capsys.readouterr().out
    assert "// ---- infer-types (" in shown
    assert " ms) ----" in shown
    assert x.tolist() == [1, 1]
    increment(x, 2, opts=CPU)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("backend", [parpy.CompileBackend.Cpu, parpy.CompileBackend.Cuda])
def test_print_compiled(backend):
    def plain(x, n):
        parpy.label("i")
        for i in range(n):
            x[i] = 1.0

    opts = parpy.CompileOptions(parallelize={"i": parpy.threads(64)}, backend=backend)
    texts = [parpy.print_compiled(f, [np.zeros(64), 64], opts) for f in (plain, parpy.jit(plain))]
    assert texts[0] == texts[1]
    assert "// ---- host code ----" in texts[0]
    assert ("// ---- device code ----" in texts[0]) == (backend is parpy.CompileBackend.Cuda)
    assert "x[i] = 1.0" in texts[0]


def test_the_interpreter_agrees():
    x = np.arange(4.0)
    parpy._jit.interpret(increment, (x, 4), CPU)
    assert x.tolist() == [1, 2, 3, 4]
