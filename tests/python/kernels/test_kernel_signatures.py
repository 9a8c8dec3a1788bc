"""The signatures of device functions: the types of arguments and results, and the choice among several."""

from __future__ import annotations

import runpy

import numpy as np
import pytest

import parpy
from parpy import cuda
from parpy.frontend.overloads import conversion

pytestmark = pytest.mark.usefixtures("simulator")


@cuda.jit(["int32(int32)", "float32(float32)", "float64(float64)", "complex64(complex64)"], device=True)
def third(a):
    return a / 3


def given(values):
    """The value of third() for the first element."""

    @cuda.jit
    def kernel(x, out):
        out[0] = third(x[0])

    out = np.zeros(1, np.complex128)
    kernel[1, 1](values, out)
    return out[0]


@pytest.mark.parametrize(
    ("dtype", "wanted"),
    [
        (np.int32, np.int32),
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.complex64, np.complex64),
        (np.int16, np.int32),  # wider and of the same kind
        (np.uint16, np.int32),  # safe as int32 and as float32: the first wins
        (np.float16, np.float32),  # the first of two that are wider
        (np.int64, np.float64),  # the only one that is safe
        (np.bool_, np.int32),
    ],
)
def test_a_call_takes_the_signature_that_fits_best(dtype, wanted):
    value = np.array([100], dtype)
    expected = wanted(wanted(value[0]) / wanted(3)) if wanted is not np.int32 else int(value[0]) // 3
    np.testing.assert_allclose(given(value), np.complex128(expected), rtol=1e-15)


def test_conversions_are_ranked():
    exact, wider, safe, other = (conversion("f32", to) for to in ("f32", "f64", "c64", "i32"))
    assert exact < wider < safe < other
    assert conversion("i32", "f32") == other and conversion("i32", "f64") == safe
    assert conversion("c64", "f64") > 4 * other


@cuda.jit(["float32(float32[:], int32)", "float64(float64[:], int64)"], device=True)
def at(a, i):
    return a[i] / 3


def test_arrays_choose_among_signatures():
    @cuda.jit
    def kernel(x, y):
        own = cuda.local.array(2, np.float32)
        own[0] = own[1] = 1
        x[0], y[0] = at(x, 1), at(y, 2)
        x[1], y[1] = at(x[1:], 0), at(own, 1)

    x, y = np.ones(3), np.ones(3, np.float32)
    kernel[1, 1](x, y)
    assert x.tolist() == [1 / 3, 1 / 3, 1] and y.tolist() == [np.float32(1) / 3, np.float32(1) / 3, 1]


def store(x):
    x[0] = 3


@pytest.mark.parametrize("arguments", ["int32[:]", ["int32[:]", "float32[:, :]"]])
@pytest.mark.parametrize("array", [np.zeros(3), np.zeros((3, 3), np.int32)], ids=["elements", "dimensions"])
def test_arrays_that_no_signature_takes_are_refused(arguments, array):
    listed = [arguments] if isinstance(arguments, str) else arguments
    text = "def store(x):\n    x[0] = 3\n" if isinstance(arguments, str) else "def store(x):\n    len(x)\n"
    function = cuda.jit([f"void({each})" for each in listed], device=True)(made(text))

    @cuda.jit
    def kernel(x):
        function(x)

    with pytest.raises(TypeError, match=r"<store>:1:(.|\n)*void\(int32\[:\]\)"):
        kernel[1, 1](array)
    kernel[1, 1](np.zeros(3, np.int32))


def made(text):
    import linecache

    linecache.cache["<store>"] = (len(text), None, text.splitlines(True), "<store>")
    space = {}
    exec(compile(text, "<store>", "exec"), space)
    return space["store"]


@cuda.jit(["int32(int32)", "int64(int64)"], device=True)
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def test_functions_with_several_signatures_call_themselves():
    @cuda.jit
    def kernel(x):
        x[0] = fibonacci(x[0])

    x = np.array([12])
    kernel[1, 1](x)
    assert x[0] == 144


def test_a_void_function_returns_nothing():
    with pytest.raises(TypeError, match=r"'f' returns a value, but its signature void\(float32\) declares no result"):

        @cuda.jit("void(float32)", device=True)
        def f(a):
            return a + 1

    @cuda.jit("void(float64[:])", device=True)
    def g(a):
        a[0] = 1

    @cuda.jit
    def kernel(x):
        x[1] = g(x)

    with pytest.raises(TypeError, match="'g' returns nothing, but its result is used here"):
        kernel[1, 1](np.zeros(3))


def test_functions_that_return_tuples_convert_their_arguments():
    @cuda.jit(("float32", "int32"), device=True)
    def parts(a, i):
        return a, i + 1

    @cuda.jit
    def kernel(x):
        x[0], x[1] = parts(x[2], 2.5)

    x = np.array([0, 0, 0.1])
    kernel[1, 1](x)
    assert x.tolist() == [float(np.float32(0.1)), 3, 0.1]

    @cuda.jit([("float32",), ("float64",)], device=True)
    def pair(a):
        return a, a + 0.1

    @cuda.jit
    def pairs(x, y):
        x[0], x[1] = pair(x[2])
        y[0], y[1] = pair(y[2])

    y = x.astype(np.float32)
    pairs[1, 1](x, y)
    assert (x[1], y[1]) == (0.1 + 0.1, np.float32(0.1) + np.float32(0.1))


@pytest.mark.parametrize(
    ("text", "signature", "message"),
    [
        ("def d(x):\n    y = x", "float32(float32)", r"d\.py:4:5: error\[P214\].*\n.*def d\(x\)"),
        ("def d(x):\n    return x", "float32(complex64)", r"d\.py:4:5: error\[P205\].*\n.*def d\(x\)"),
    ],
)
def test_what_is_wrong_with_a_signature_is_told_at_the_function(tmp_path, text, signature, message):
    file = tmp_path / "d.py"
    inside = text.replace("\n", "\n    ")
    file.write_text(f"from parpy import cuda\nif True:\n    @cuda.jit('{signature}', device=True)\n    {inside}\n")
    with pytest.raises(parpy.CompileError, match=message) as error:
        runpy.run_path(str(file))
    assert "a call of" not in str(error.value) and "call(a0)" not in str(error.value)
