"""Kinds of arguments: numbers, arrays of any layout and library, dicts, and arguments that are refused."""

from __future__ import annotations

import array
import ctypes
import gc
import os
import weakref
from pathlib import Path

import numpy as np
import pytest

import parpy
from fresh_functions import CPU, fresh, increment

# ---------------------------------------------------------------- kinds of arguments


@parpy.jit
def store(x, value):
    x[0] = value


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


class Asked:
    """Gives an array by __array__, and counts the calls."""

    def __init__(self, give):
        self.give, self.times = give, 0

    def __array__(self, dtype=None, copy=None):
        self.times += 1
        return self.give()


def test_objects_are_asked_for_their_array_once():
    kept, cache = np.arange(4.0), {}
    own = [lambda: kept, lambda: kept[:], lambda: kept.reshape(2, 2)[1:].ravel(), lambda: kept.view(np.ndarray)]
    own.append(lambda: cache.setdefault("x", np.arange(4.0)))
    for give in own:
        x = Asked(give)
        increment(x, 2, opts=CPU)
        assert x.times == 1
    assert kept.tolist() == [3, 4, 3, 4]
    assert cache["x"].tolist() == [1, 2, 2, 3]
    for give in (lambda: kept.copy(), lambda: kept.copy()[:3], lambda: kept + 0):
        x, y = Asked(give), np.zeros(3)
        with pytest.raises(ValueError, match="P207"):
            increment(x, 2, opts=CPU)
        assert x.times == 1
        copied(x, y, 3, opts=CPU)
        assert x.times == 2
        assert y.tolist() == [3, 4, 3]
    buffer = bytearray(16)
    x = Asked(lambda: np.frombuffer(buffer, np.float64))
    increment(x, 2, opts=CPU)
    assert np.frombuffer(buffer).tolist() == [1, 1]


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
    """Memory that claims to be on a GPU."""

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
        "not multiples of its element size",
        "contiguous copy",
    ),
    (Device(), "P559", "lies on a CUDA device", "CompileBackend.Cuda"),
]


@pytest.mark.parametrize(("x", "code", "message", "help_text"), [r for r in REFUSED if r[1]])
def test_refused_arguments(x, code, message, help_text):
    with pytest.raises(parpy.CompileError) as caught:
        parpy.jit(increment.__wrapped__)(x, 1, opts=CPU)
    text = str(caught.value)
    assert caught.value.codes == (code,)
    line = increment.__wrapped__.__code__.co_firstlineno + 1
    assert text.startswith(f"{Path(__file__)}:{line}:15: error[{code}]: argument 'x' ") or f":{line}:15: error" in text
    assert message in text
    assert help_text in text.split("help: ")[1]


def test_lists_that_a_function_stores_to():
    values = [1.0, 2.0]
    parpy.jit(increment.__wrapped__)(values, 2, opts=CPU)
    assert values == [2.0, 3.0]


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


class Holder:
    def __init__(self, array, copies):
        self.array, self.copies = array, copies

    def __array__(self, dtype=None, copy=None):
        return self.array.copy() if self.copies else self.array


@parpy.jit
def doubled(x):
    for i in range(len(x)):
        x[i] *= 2


def test_objects_that_give_their_own_memory_are_written():
    x = np.ones(4)
    doubled(Holder(x, copies=False))
    assert x.tolist() == [2] * 4
    with pytest.raises(ValueError, match="read-only"):
        doubled(Holder(x, copies=True))
