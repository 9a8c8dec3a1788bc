"""The checker of CudaPy: every value has a type, in all functions of a list, and nothing is converted implicitly."""
# ruff: noqa: F821

from __future__ import annotations

import importlib
import math
import sys

import numpy as np
import pytest

import kernel_places
import parpy
import parpy.cudapy as cp

backend = kernel_places.backend

PARAMETERS = "int* I, float* F, double* D, bool* B, int i, float f, double d, bool b"

HEAD = f"""
import math
from math import sin
import numpy as np
import parpy.cuda as cuda
GN, GD, GB = np.float32(1.5), np.float64(2.5), np.int64(3)
GA, GT, LARGE = np.arange(4, dtype=np.float32), (1.5, 2, np.float64(3.5)), 2**40

# k : void ({PARAMETERS})
def k(I, F, D, B, i, f, d, b):
"""


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    def make(body, names="k", helpers=""):
        text = HEAD + "".join(f"    {line}\n" for line in body.split("\n")) + helpers
        (tmp_path / "typed_kernel.py").write_text(text)
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(sys.modules, "typed_kernel", raising=False)
        importlib.invalidate_caches()
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        module = importlib.import_module("typed_kernel")
        return cp.compile([getattr(module, name) for name in names.split()])

    return make


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("I[0] = np.sin(d)", "the result of 'np.sin' has none of the types bool, int, float and double"),
        ("F[0] = np.sin(d)", "write math.sin(x) of doubles, math.sinf(x) of floats"),
        ("D[0] = np.arctan2(d, d)", "write math.atan2(x)"),
        ("I[0] = np.where(b, 1.5, 2.5)", "write x if c else y"),
        ("I[0] = round(f)", "write math.rint(x)"),
        ("v, w = divmod(i, 2)\nF[0] = v", "write a / b and a % b"),
        ("I[0] = pow(i, 2)", "write math.pow(x, y)"),
        ("v = np.float64(1)\nF[0] = v", "'F[0]' is a float, this is a double"),
        ("F[0] = np.int64(i)", "the result of 'np.int64' has none of the types"),
        ("F[0] = sin(d)", "'F[0]' is a float, this is a double"),
        ("D[0] = sin(f)", "'math.sin' takes a double, this is a float"),
        ("D[0] = GN", "'D[0]' is a double, this is a float"),
        ("F[0] = GD", "'F[0]' is a float, this is a double"),
        ("I[0] = GB", "'GB' has none of the types"),
        ("D[0] = GA[i]", "'D[0]' is a double, this is a float"),
        ("F[0] = GT[1]", "'F[0]' is a float, this is an int"),
        ("F[0] = GT[2]", "'F[0]' is a float, this is a double"),
        ("x, y, z = GT\nF[0] = y", "'F[0]' is a float, this is an int"),
        ("I[0] = LARGE", "'LARGE' is 1099511627776, which is not an int"),
        ("F[0] = 1j", "'1j' has none of the types"),
        ("D[0] = math.sin(d, d)", "'math.sin' takes 1 argument, not 2"),
        ("D[0] = math.sin()", "'math.sin' takes 1 argument, not 0"),
        ("D[0] = math.sin(x=d)", "'math.sin' takes its arguments by position"),
        ("I[0] = max(1, i, 2.5)", "'max' has an int on the left and a float on the right"),
        ("I[0] = abs(b)", "'abs' takes int or float or double, not bool"),
        ("F[0] = F.size", "'F[0]' is a float, this is an int"),
        ("F[0] = F.shape[0]", "'F[0]' is a float, this is an int"),
        ("x, y = cuda.grid(2)\nF[0] = y", "'F[0]' is a float, this is an int"),
        ("cuda.atomic.add(F, 0, d)", "this argument of 'cuda.atomic.add' is a float, this is a double"),
        ("s = cuda.shared.array(32, np.float64)\nF[0] = s[0]", "'F[0]' is a float, this is a double"),
        ("for n in range(3):\n    if n > 0:\n        I[0] = v\n    v = 1.5", "'I[0]' is an int, this is a float"),
        ("assert i", "a condition is a bool, this is an int"),
        ("if F == F:\n    I[0] = 1", "arrays have no order"),
        ("return i", "'k' returns void\n"),
    ],
)
def test_what_is_refused(body, message, compiled):
    with pytest.raises(parpy.CompileError) as caught:
        compiled(body)
    text = str(caught.value) + "\n"
    assert message in text and text.count("error[") == 1 and "typed_kernel.py" in text


def test_what_has_a_type(compiled):
    run = compiled(
        "F[0] = GN + GA[i] + GA[1]\nD[0] = GD + sin(d) + np.float64(f)\nI[0] = max(1, i, 7) + len(GT) + len(GA)\n"
        "x, y = cuda.grid(2)\nI[1] = x + y + F.size + F.shape[0]\ncuda.atomic.add(I, 2, i)\n"
        "s = cuda.shared.array(32, np.float32)\ns[threadIdx.x] = float(idx)\ncuda.syncthreads()\n"
        "F[1] = s[0] + GT[0]\nB[0] = np.bool_(i)\nprint('end', i)\nreturn None"
    )
    ints, floats, doubles, bools = np.zeros(3, np.int32), np.zeros(2, np.float32), np.zeros(1), np.zeros(1, bool)
    run(1)(ints, floats, doubles, bools, 3, 0.5, 0.25, True)
    assert ints.tolist() == [7 + 3 + 4, 4, 3]
    assert floats.tolist() == [1.5 + 3 + 1, 1.5] and bools[0]
    assert doubles[0] == 2.5 + math.sin(0.25) + 0.5


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("pass", "'h' does not return on every path"),
        ("if i > 0:\n        return 1", "help: end every path with 'return' and an int"),
        ("return", "'h' returns an int, not nothing"),
        ("return 2.5", "the result is an int, this is a float"),
    ],
)
@pytest.mark.parametrize("called", ["I[0] = h(i)", "I[0] = i"])
def test_helpers_return_what_they_say(called, body, message, compiled):
    with pytest.raises(parpy.CompileError) as caught:
        compiled(called, "k h", f"\n# h : int (int i)\ndef h(i):\n    {body}\n")
    assert message in str(caught.value)


def test_all_functions_of_a_list_are_checked(compiled):
    second = "\n# k2 : void (float* F, double d)\ndef k2(F, d):\n    F[0] = d\n"
    with pytest.raises(parpy.CompileError, match=r"'F\[0\]' is a float, this is a double"):
        compiled("I[0] = 1", "k k2", second)
    nothing = "\n# h : void (int i)\ndef h(i):\n    return\n"
    compiled("h(i)", "k h", nothing)
    with pytest.raises(parpy.CompileError, match=r"'h\(i\)' is void: it has no value") as caught:
        compiled("F[0] = h(i)", "k h", nothing)
    assert "call it on a line of its own" in str(caught.value)
    with pytest.raises(parpy.CompileError, match="'h' takes its arguments by position"):
        compiled("h(i=1)", "k h", nothing)
    with pytest.raises(parpy.CompileError, match="'h' takes 1 argument, not 0"):
        compiled("h()", "k h", nothing)


def test_types_of_signatures():
    for wrong in (5, "int", cp.Pointer(cp.Float), cp.Void, float):
        with pytest.raises(cp.CudaTypeError, match="is not an element type"):
            cp.Pointer(wrong)

    def plain(X):
        X[0] = 1

    with pytest.raises(cp.CudaTypeError, match="cannot be void"):
        cp.compile(plain, [cp.Void, cp.Void])


def test_elements_that_no_float_holds():
    for values in ([1e300], [10**40], [1.0, -1e39], np.array([1e300])):
        with pytest.raises(cp.CudaPyError, match="which no float holds"):
            cp.CudaArray(values, cp.Float)
    assert cp.CudaArray([math.inf, 1.0]).toList() == [math.inf, 1.0]
    assert cp.CudaArray([1e300], cp.Double).toList() == [1e300]


# twice : void (float* X)
def twice(X):
    if idx < len(X):
        X[idx] = 2.0 * X[idx]


def test_numpy_arrays_are_copied_back():
    values = np.array([1.0, 2.5, -3.0], np.float32)
    cp.compile(twice)(3)(values)
    assert values.tolist() == [2.0, 5.0, -6.0]
    every_other = np.arange(6, dtype=np.float32)
    cp.compile(twice)(3)(every_other[::2])
    assert every_other.tolist() == [0, 1, 4, 3, 8, 5]
    with pytest.raises(cp.CudaPyError, match="must have one dimension, not 2"):
        cp.compile(twice)(3)(np.zeros((2, 2), np.float32))


def test_a_signature_below_the_decorator():
    @cp.kernel
    # three : void (int* X)
    def three(X):
        X[0] = 3

    X = cp.CudaArray([0])
    three(1)(X)
    assert X.toList() == [3]
