"""CudaPy: the programs of its documents, its types, templates and errors."""
# ruff: noqa: F821

from __future__ import annotations

import importlib
import math
import re
import sys

import numpy as np
import pytest

import kernel_places
import parpy
import parpy.cudapy as cp
from nvrtc import cubin

backend = kernel_places.backend


# saxpy : void (float alpha, float* X, float* Y)
def saxpy(alpha, X, Y):
    if idx < len(X):
        Y[idx] = alpha * X[idx] + Y[idx]


def test_saxpy():
    X, Y = [float(i) for i in range(100)], [2.0 * i for i in range(100)]
    device = cp.CudaArray(Y)
    call = cp.compile(saxpy)
    call(len(X))(5.0, X, device)
    assert device.toList() == [5 * x + y for x, y in zip(X, Y, strict=True)]
    assert len(device) == device.length() == 100 and device.elemType() is cp.Float and device[3] == 21.0


# saxpyWith : void (float alpha, float* X, float* Y)
def saxpyWith(alpha, X, Y):
    if idx < len(X):
        Y[idx] = add(alpha * X[idx], Y[idx])


# add : float (float a, float b)
def add(a, b):
    return a + b


def test_helpers_in_any_order():
    for functions in ([saxpyWith, add], [add, saxpyWith]):
        Y = cp.CudaArray([1.0, 2.0])
        cp.compile(functions)(2)(10.0, [1.0, 1.0], Y)
        assert Y.toList() == [11.0, 12.0]


# multiply : void (int alpha, int* X, int* result)
def multiply(alpha, X, result):
    if idx < len(X):
        result[idx] = alpha * X[idx]


# plus : void (int* Y, int* result)
def plus(Y, result):
    if idx < len(Y):
        result[idx] += Y[idx]


def test_results_stay_on_the_device():
    result = cp.CudaArray.allocate(50, cp.Int)
    cp.compile(multiply)(50)(3, list(range(50)), result)
    cp.compile(plus)(50)([7] * 50, result)
    assert result.toList() == [3 * i + 7 for i in range(50)]


# matmul : void (float* A, float* B, float* C, int m, int n, int p)
def matmul(A, B, C, m, n, p):
    if idx < p and idy < m:
        total = 0.0
        for k in range(n):
            total += A[idy * n + k] * B[k * p + idx]
        C[idy * p + idx] = total


def test_matmul_in_two_dimensions():
    m, n, p = 12, 10, 8
    a, b = np.random.default_rng(0).random((m, n), np.float32), np.random.default_rng(1).random((n, p), np.float32)
    C = cp.CudaArray.allocate(m * p, cp.Float)
    cp.compile(matmul)(p, m)(a.ravel(), b.ravel(), C, m, n, p)
    np.testing.assert_allclose(C.toHost().reshape(m, p), a @ b, rtol=1e-5)


# escapes : int (double cr, double ci, int limit)
def escapes(cr, ci, limit):
    x = 0.0 * cr
    y = 0.0 * cr
    for i in range(limit):
        x, y = x * x - y * y + cr, 2.0 * x * y + ci
        if x * x + y * y > 4.0:
            return i
    return limit


# mandel : void (int* image, int width, int height, int limit)
def mandel(image, width, height, limit):
    if idx < width * height:
        px = idx % width
        py = idx / width
        image[idx] = escapes(3.0 * double(px) / double(width) - 2.0, 2.0 * double(py) / double(height) - 1.0, limit)


# mandel2D : void (int* image, int width, int height, int limit)
def mandel2D(image, width, height, limit):
    if idx < width and idy < height:
        image[idy * width + idx] = escapes(
            3.0 * double(idx) / double(width) - 2.0, 2.0 * double(idy) / double(height) - 1.0, limit
        )


def test_mandelbrot():
    width, height = 30, 20
    flat, plane = (cp.CudaArray.allocate(width * height, cp.Int) for _ in range(2))
    cp.compile([mandel, escapes])(width * height)(flat, width, height, 40)
    cp.compile([escapes, mandel2D])(width, height)(plane, width, height, 40)
    assert flat.toList() == plane.toList()
    assert max(flat.toList()) == 40 and min(flat.toList()) == 0


# isEven : int (int n)
def isEven(n):
    if n == 0:
        return 1
    return isOdd(n - 1)


# isOdd : int (int n)
def isOdd(n):
    if n == 0:
        return 0
    return isEven(n - 1)


# parity : void (int* X)
def parity(X):
    if idx < len(X):
        X[idx] = isEven(idx)


def test_mutual_recursion():
    X = cp.CudaArray([0] * 20)
    cp.compile([parity, isEven, isOdd])(20)(X)
    assert X.toList() == [1, 0] * 10


@pytest.mark.parametrize("size", [(1,), (5,), (64,), (5, 7), (3, 100), (5, 7, 3)])
def test_launches_by_number_of_threads(size):
    # count : void (int* X, int a, int b, int c)
    def count(X, a, b, c):
        if idx < a and idy < b and idz < c:
            X[(idz * b + idy) * a + idx] = idx + 10 * idy + 100 * idz

    a, b, c = (*size, 1, 1)[:3]
    X = cp.CudaArray([-1] * (a * b * c))
    cp.compile(count)(*size)(X, a, b, c)
    cp.compile(count)(cp.dim3(*size))(X, a, b, c)
    assert X.toList() == [x + 10 * y + 100 * z for z in range(c) for y in range(b) for x in range(a)]
    cp.compile(count)(0)(X, a, b, c)


# operators : void (int* A, int* B, int* out)
def operators(A, B, out):
    if idx < len(A):
        a, b = A[idx], B[idx]
        out[12 * idx] = a + b
        out[12 * idx + 1] = a - b
        out[12 * idx + 2] = a * b
        out[12 * idx + 3] = a / b
        out[12 * idx + 4] = a % b
        out[12 * idx + 5] = a << 2
        out[12 * idx + 6] = a >> 1
        out[12 * idx + 7] = a & b
        out[12 * idx + 8] = a | b
        out[12 * idx + 9] = a ^ b
        out[12 * idx + 10] = -a + ~b
        out[12 * idx + 11] = 1 if (a < b and not a >= 3) or a > 5 else 0


def test_operators_are_those_of_c():
    A, B = [7, -7, 7, -7, 3], [2, 2, -2, -2, 9]
    out = cp.CudaArray([0] * 60)
    cp.compile(operators)(5)(A, B, out)
    got = out.toHost().reshape(5, 12).tolist()
    for a, b, row in zip(A, B, got, strict=True):
        c_div = int(a / b)
        test = int((a < b and a < 3) or a > 5)
        assert row == [a + b, a - b, a * b, c_div, a - c_div * b, a << 2, a >> 1, a & b, a | b, a ^ b, -a + ~b, test]


# functions : void (float* X, double* Y, float* outf, double* outd)
def functions(X, Y, outf, outd):
    if idx < len(X):
        outf[2 * idx] = math.sinf(X[idx]) + math.powf(X[idx], 2.0)
        outf[2 * idx + 1] = float(int(X[idx] * 10.0)) + math.fabsf(-X[idx])
        outd[2 * idx] = math.exp(Y[idx]) * math.fma(Y[idx], Y[idx], 1.0)
        outd[2 * idx + 1] = double(X[idx]) + math.atan2(Y[idx], 2.0)


def test_math_and_casts():
    X, Y = [0.25, 1.5], [0.5, 2.0]
    outf, outd = cp.CudaArray.allocate(4, cp.Float), cp.CudaArray.allocate(4, cp.Double)
    cp.compile(functions)(2)(X, Y, outf, outd)
    x, y = np.float32(X), np.array(Y)
    np.testing.assert_allclose(outf.toHost()[::2], np.sin(x) + x * x, rtol=1e-6)
    np.testing.assert_allclose(outf.toHost()[1::2], np.trunc(x * 10) + x, rtol=1e-6)
    np.testing.assert_allclose(outd.toHost()[::2], np.exp(y) * (y * y + 1))
    np.testing.assert_allclose(outd.toHost()[1::2], x + np.arctan2(y, 2))


def test_signatures_as_arguments():
    def plain(X):
        if idx < len(X):
            X[idx] = 2 * X[idx]

    for sig in ("void (int* X)", [cp.Void, cp.Pointer(cp.Int)]):
        X = cp.CudaArray([1, 2, 3])
        cp.compile(plain, sig)(3)(X)
        assert X.toList() == [2, 4, 6]
    with pytest.raises(cp.CudaPyError, match="has no signature"):
        cp.compile(plain)
    X = cp.CudaArray([1.0])
    cp.compile(multiply_any, sig="void (float alpha, float* X)")(1)(2.0, X)
    assert X.toList() == [2.0]


# multiply_any : void (int alpha, int* X)
def multiply_any(alpha, X):
    if idx < len(X):
        X[idx] *= alpha


@cp.kernel("void (int* X)")
def decorated(X):
    X[0] = 5


def test_the_decorator():
    X = cp.CudaArray([0])
    decorated(1)(X)
    assert X.toList() == [5]


# ---------------------------------------------------------------- templates


# square : float (float x)
def square(x):
    return x * x


# larger : int (int a, int b)
def larger(a, b):
    return a if a > b else b


# total : int (int a, int b)
def total(a, b):
    return a + b


def test_templates_that_ship():
    assert cp.map(square)([1.0, 2.0, 3.0]).toList() == [1.0, 4.0, 9.0]
    assert cp.zipWith(total)([1, 2, 3], [10, 20, 30]).toList() == [11, 22, 33]
    assert cp.zipWith(larger)([1, 5], [3, 3, 3]).toList() == [3, 5]
    for n in (1, 2, 7, 64, 100):
        assert cp.reduce(total)(list(range(n))) == sum(range(n))
        assert cp.scan(total)(list(range(n))).toList() == np.cumsum(range(n)).tolist()
    assert cp.reduce(larger)([3, 9, 2]) == 9


# apply : void (float* X)
def apply(X):
    if idx < len(X):
        X[idx] = function(X[idx])


# half : float (float x)
def half(x):
    return x / 2.0


def test_templates_of_ones_own():
    for one, want in ((square, 36.0), (half, 3.0)):
        X = cp.CudaArray([6.0])
        cp.compile([cp.Template(apply).substitute((one, "function")), one])(1)(X)
        assert X.toList() == [want]
    made = cp.template([(half, "function")])(apply)
    X = cp.CudaArray([6.0])
    cp.compile([made, half])(1)(X)
    assert X.toList() == [3.0]
    with pytest.raises(cp.TemplateError, match="has no name 'nothing'"):
        cp.Template(apply).substitute((half, "nothing"))
    with pytest.raises(cp.TemplateError, match="is not a function"):
        cp.Template(3)


def test_substitutions_are_checked():
    made = cp.Template(apply)
    for wrong, message in [
        ("a", r"a pair \(new, 'old'\), not 'a'"),
        (half, r"a pair \(new, 'old'\)"),
        ((half,), r"a pair \(new, 'old'\)"),
        ((half, "function", 1), r"a pair \(new, 'old'\)"),
        (("function", half), "write a replacement as"),
        ((half, 3), "write a replacement as"),
        ((half, "X["), "write a replacement as"),
        ((None, "function"), "replaced by a function that is compiled with it, a name or a number, not None"),
        ((len, "function"), "replaced by a function"),
        ((lambda x: x, "function"), "replaced by a function"),
        (("f(", "function"), r"'apply' is not valid Python after 'function' is replaced by 'f\('"),
        ((half, "apply"), "'apply' is the template itself"),
    ]:
        with pytest.raises(cp.TemplateError, match=message):
            made.substitute(wrong)
    with pytest.raises(cp.TemplateError, match=r"a pair \(new, 'old'\)"):
        cp.template(apply)


# ---------------------------------------------------------------- errors


def errors_of(function, sig):
    with pytest.raises(parpy.CompileError) as caught:
        cp.compile(function, sig)
    return str(caught.value)


def test_loops_over_xrange():
    def odd(X):
        if idx == 0:
            for i in xrange(1, len(X), 2):
                X[i] = -2147483648
            for i in xrange(2):
                X[0] = X[0] + i + 1

    X = cp.CudaArray([0] * 5)
    cp.compile(odd, "void (int* X)")(1)(X)
    assert X.toList() == [3, -2147483648, 0, -2147483648, 0]


def test_types_are_checked_everywhere():
    def mixed(X, n):
        X[idx] = X[idx] + n

    def stored(X, n):
        X[idx] = n

    def condition(X, n):
        if n:
            X[0] = 1.0

    def two_types(X, n):
        v = n
        v = X[0]
        X[1] = v

    def no_f(X, n):
        X[0] = math.sin(X[0])

    def subscript(X, n):
        X[X[0]] = 1.0

    def chained(X, n):
        if 0 < n < 2.5:
            X[0] = 1.0

    def power(X, n):
        X[0] = X[0] ** 2

    def undefined(X, n):
        X[0] = nowhere

    def returned(X, n):
        return n

    def rows(X, n):
        X[0, n] = 1.0

    def renamed(X, n):
        X = X

    def second_name(X, n):
        Y = X
        Y[0] = 1.0

    def large(X, n):
        m = n + 3000000000
        X[0] = float(m)

    def larger(X, n):
        m = -2147483649
        X[0] = float(m)

    sig = "void (float* X, int n)"
    assert "an array takes one subscript" in errors_of(rows, sig)
    assert "'X' is an array of float and cannot be assigned again" in errors_of(renamed, sig)
    assert "an array of float cannot get a second name" in errors_of(second_name, sig)
    assert "3000000000 is not an int: an int has 32 bits" in errors_of(large, sig)
    assert "-2147483649 is not an int" in errors_of(larger, sig)
    assert "'+' has a float on the left and an int on the right" in errors_of(mixed, sig)
    assert "'X[idx]' is a float, this is an int" in errors_of(stored, sig)
    assert "a condition is a bool, this is an int" in errors_of(condition, sig)
    assert "variable 'v' is an int, this is a float" in errors_of(two_types, sig)
    assert "write math.sinf" in errors_of(no_f, sig)
    assert "a subscript is an int, this is a float" in errors_of(subscript, sig)
    assert "the comparison has an int on the left and a float on the right" in errors_of(chained, sig)
    assert "use math.pow" in errors_of(power, sig)
    assert "name 'nowhere' is not defined" in errors_of(undefined, sig)
    assert "'returned' returns void" in errors_of(returned, sig)


def test_signatures_are_checked():
    with pytest.raises(cp.CudaPyError, match="has 3 parameters, but its signature has 1"):
        cp.compile(saxpy, "void (float a)")
    with pytest.raises(cp.CudaTypeError, match="'flaot a' is not a type"):
        cp.compile(saxpy, "void (flaot a, float* X, float* Y)")
    with pytest.raises(cp.CudaTypeError, match="is not a signature"):
        cp.compile(saxpy, "nonsense")
    with pytest.raises(cp.CudaPyError, match="none is a kernel"):
        cp.compile(square)


def test_arrays_are_checked():
    for wrong in ({1: 2}, "text", 3):
        with pytest.raises(cp.CudaPyError, match="made from a list"):
            cp.CudaArray(wrong)
    with pytest.raises(cp.CudaPyError, match="array of int, but it holds 'a'"):
        cp.CudaArray([1, "a"])
    for values, kind, message in [
        ([2**40], None, "it holds 1099511627776, which needs more than 32 bits"),
        ([1, -(2**70)], None, "needs more than 32 bits"),
        (np.array([2**40]), cp.Int, "needs more than 32 bits"),
        ([1.0, 10**400], None, "an integer beyond all of them"),
        ([5, True], None, "array of int, but it holds True"),
        ([True, 5], None, "array of bool, but it holds 5"),
        ([1.5], cp.Int, "array of int, but it holds 1.5"),
        (np.array([np.nan]), cp.Int, "array of int, but it holds elements of type float64"),
        (np.array(["a"]), cp.Float, "elements of type <U1"),
    ]:
        with pytest.raises(cp.CudaPyError, match=message):
            cp.CudaArray(values, kind)
    for wrong in ("double", "unknown", float, np.float64, cp.Void, cp.Pointer(cp.Int), 3):
        with pytest.raises(cp.CudaPyError, match=r"not an element type; write cp.Bool, cp.Int, cp.Float or cp.Double"):
            cp.CudaArray([1], wrong)
        with pytest.raises(cp.CudaPyError, match="not an element type"):
            cp.CudaArray.allocate(3, wrong)
    with pytest.raises(cp.CudaPyError, match="not an element type"):
        cp.CudaArray.allocate(3, None)
    assert cp.CudaArray(np.arange(3), cp.Float).toList() == [0.0, 1.0, 2.0]
    for wrong in (-1, 1.5):
        with pytest.raises(cp.CudaPyError, match="a number of elements"):
            cp.CudaArray.allocate(wrong, cp.Int)
    X = cp.CudaArray([1, 2])
    with pytest.raises(IndexError, match="index 2 is out of bounds for axis 0 with size 2"):
        X[2] = 3
    for wrong in (slice(0, 1), "x", 0.5, (0, 1), True):
        with pytest.raises(cp.CudaPyError, match=r"indexed by one int, .*take parts of a.toList\(\) or a.toHost\(\)"):
            X[wrong]
        with pytest.raises(cp.CudaPyError, match="indexed by one int"):
            X[wrong] = 1
    for wrong, shown in [(1.5, "1.5"), ("x", "'x'"), (None, "None"), (2**40, str(2**40))]:
        with pytest.raises(cp.CudaPyError, match=f"array of int, but the value is {shown}"):
            X[0] = wrong
    assert X.toList() == [1, 2] and list(X) == [1, 2]
    with pytest.raises(cp.CudaPyError, match="no function to compile"):
        cp.compile([])
    for wrong in ((-1,), (1.5,), (1, "x"), ((),), ((1, 1, 1, 1),)):
        with pytest.raises(cp.CudaPyError, match="'saxpy' runs on a number of threads"):
            cp.compile(saxpy)(*wrong)


# by_double : void (double a, int* X, int* Y)
def by_double(a, X, Y):
    X[0] = int(a)


def test_launches_are_checked():
    call = cp.compile(saxpy)
    ints = cp.CudaArray([1, 2])
    for arguments, message in [
        ((1.0, ints, ints), "argument 'X' of 'saxpy' must be an array of float, not of int"),
        ((1.0, [1.0]), "takes 3 arguments, not 2"),
        (("x", [1.0], [1.0]), "argument 'alpha' of 'saxpy' must be float, not str"),
        ((1.0, 3.0, [1.0]), "must be a CudaArray or a list, not float"),
        ((1.0, ["x"], [1.0]), "it holds 'x'"),
    ]:
        with pytest.raises(cp.CudaPyError, match=message):
            call(1)(*arguments)
    with pytest.raises(cp.CudaPyError, match="must be int, not float"):
        cp.compile(multiply)(1)(1.5, [1], [1])
    with pytest.raises(cp.CudaPyError, match="fit an int"):
        cp.compile(multiply)(1)(2**31, [1], [1])
    for large, kind in [(1e300, "float"), (2**200, "float"), (-(2**2000), "double"), (2**200, "int")]:
        scaled = cp.compile(multiply if kind == "int" else by_double if kind == "double" else saxpy)
        with pytest.raises(cp.CudaPyError, match=rf"must fit an? {kind}, {re.escape(str(large))} does not"):
            scaled(1)(large, [1], [1])
    with pytest.raises(cp.CudaPyError, match="signatures of several functions are a list of them, not 3"):
        cp.compile([saxpy], sig=3)
    with pytest.raises(cp.CudaPyError, match="has floats"):
        cp.CudaArray([1, 2.5])


# ---------------------------------------------------------------- mathematics that only CUDA has

OF_CUDA = {
    "cospi": (-0.587785252292473, 0.7), "sinpi": (0.809016994374947, 0.7), "erfcinv": (0.272462714726755, 0.7),
    "erfinv": (0.732869077959217, 0.7), "erfcx": (0.525930337349441, 0.7), "exp10": (5.01187233627272, 0.7),
    "j0": (0.881200888607405, 0.7), "j1": (0.328995741540059, 0.7), "y0": (-0.190664929337395, 0.7),
    "y1": (-1.10324987190763, 0.7), "logb": (-1.0, 0.7), "rcbrt": (1.12624788044361, 0.7), "round": (1.0, 0.7),
    "fdim": (0.4, 0.7, 0.3), "remainder": (0.1, 0.7, 0.3), "fdivide": (7 / 3, 0.7, 0.3),
}  # fmt: skip


@pytest.mark.parametrize("suffix", ["", "f"])
def test_functions_that_only_cuda_has(suffix, tmp_path, monkeypatch):
    kind, convert = (cp.Float, "float") if suffix else (cp.Double, "double")
    lines = [f"# k : void ({convert}* Y)", "def k(Y):"]
    for place, (name, (_, *arguments)) in enumerate(OF_CUDA.items()):
        given = ", ".join(f"{convert}({argument})" for argument in arguments)
        lines.append(f"    Y[{place}] = math.{name}{suffix}({given})")
    (tmp_path / "many_functions.py").write_text("\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "many_functions", raising=False)
    call = cp.compile(importlib.import_module("many_functions").k)
    Y = cp.CudaArray.allocate(len(OF_CUDA), kind)
    call(1)(Y)
    np.testing.assert_allclose(Y.toList(), [want for want, *_ in OF_CUDA.values()], rtol=3e-6 if suffix else 1e-13)
    cubin(call.source())


LIMIT = 0x7FFFFFFF
NUMBERS = (1, 2.5, 7)


def test_constants_from_the_end_of_tuples():
    def last(X, I):
        X[idx] = NUMBERS[-2]
        I[idx] = NUMBERS[-1] + NUMBERS[-3]

    x, i = np.zeros(2, np.float32), np.zeros(2, np.int32)
    cp.compile(last, sig="void (float* X, int* I)")(2)(x, i)
    assert x.tolist() == [2.5, 2.5] and i.tolist() == [8, 8]


def test_constants_beyond_an_int_are_refused_before_the_launch():
    def literals(X, n):
        X[0] = 0x7FFFFFFF + 1

    def product(X, n):
        X[0] = n * (65536 * 65536)

    def from_outside(X, n):
        X[0] = -LIMIT - 2

    def negated(X, n):
        X[0] = -(-LIMIT - 1)

    def fits(X, n):
        X[0] = -LIMIT - 1 + n * LIMIT

    sig = "void (int* X, int n)"
    assert "'2147483647 + 1' is 2147483648, which is not an int: an int has 32 bits" in errors_of(literals, sig)
    assert "'65536 * 65536' is 4294967296" in errors_of(product, sig)
    assert "'-LIMIT - 2' is -2147483649" in errors_of(from_outside, sig)
    assert "is 2147483648, which is not an int" in errors_of(negated, sig)
    x = np.zeros(1, np.int32)
    cp.compile(fits, sig=sig)(1)(x, np.int32(1))
    assert x[0] == -1
