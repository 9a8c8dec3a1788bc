"""The annotations of functions that compiled code calls: shapes, symbols and type variables, compared at the call."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, copies, options
from parpy.types import F64, I8, buffer, symbol, type_var

N, M, T = symbol("N"), symbol("M"), type_var("T")


@parpy.jit
def product(a: buffer(T, [N, M]), x: buffer(T, [M]), y: buffer(T, [N]), factor: T):
    for i in range(N):
        for j in range(M):
            y[i] += factor * a[i, j] * x[j]


@parpy.jit
def first_four(x: buffer(F64, [4])):
    for i in range(4):
        x[i] += 1


@parpy.jit
def counted(x: buffer(F64, [N]), n: N):
    for i in range(n):
        x[i] += 1


@parpy.jit
def call_product(a, x, y, factor):
    product(a, x, y, factor)


@parpy.jit
def call_with_literal(a, x, y):
    product(a, x, y, 2)


@parpy.jit
def call_four(x):
    first_four(x)


@parpy.jit
def call_rows(z):
    for i in range(z.shape[0]):
        first_four(z[i])


@parpy.jit
def call_counted(x, n):
    counted(x, n)


@parpy.jit
def call_counted_with_a_loop(x):
    for k in range(3, 5):
        counted(x, k)


def floats(*shape, dtype="d"):
    return np.ones(shape, dtype)


REFUSED = [
    (
        call_product,
        (floats(2, 3), floats(4), floats(2), 1.0),
        "argument 'x' of 'product' has the extent 4 in dimension 0, not 3",
    ),
    (
        call_product,
        (floats(2, 3), floats(3), floats(1), 1.0),
        "argument 'y' of 'product' has the extent 1 in dimension 0, not 2",
    ),
    (
        call_product,
        (floats(6), floats(3), floats(2), 1.0),
        "argument 'a' of 'product' is .*, not an array of 2 dimensions",
    ),
    (call_product, (3.0, floats(3), floats(2), 1.0), "argument 'a' of 'product' is .*, not an array of 2 dimensions"),
    (
        call_product,
        (floats(2, 3), floats(3, dtype="f"), floats(2), 1.0),
        "'x' of 'product' has elements of type float32, not float64",
    ),
    (
        call_product,
        (floats(2, 3), floats(3), floats(2), np.float32(1)),
        "'factor' of 'product' is a float32, not float64",
    ),
    (call_four, (floats(5),), "argument 'x' of 'first_four' has the extent 5 in dimension 0, not 4"),
    (call_rows, (floats(2, 3),), "argument 'x' of 'first_four' has the extent 3 in dimension 0, not 4"),
    (call_counted, (floats(4), 3), "argument 'n' of 'counted' is 3, not 4"),
    (call_counted, (floats(4), 3.5), "argument 'n' of 'counted' is a float, not an integer"),
]


@pytest.mark.parametrize("function, arguments, message", REFUSED)
def test_arguments_that_annotations_of_helpers_refuse(function, arguments, message):
    kept = copies(arguments)
    with pytest.raises(TypeError, match=message) as error:
        function(*arguments, opts=options("cpu", {}))
    assert "test_declared_helpers.py" in str(error.value)  # the call, followed by the declaration
    assert "note: the annotation says" in str(error.value)
    for a, b in zip(arguments, kept, strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("backend", TARGETS)
def test_arguments_that_fit(backend):
    for dtype in "fd":
        for factor in (2.0, 2, np.dtype(dtype).type(2)):
            y = np.zeros(2, dtype)
            call_product(floats(2, 3, dtype=dtype), floats(3, dtype=dtype), y, factor, opts=options(backend, {}))
            assert y.tolist() == [6, 6]
    call_with_literal(floats(2, 3), floats(3), y := np.zeros(2), opts=options(backend, {}))
    assert y.tolist() == [6, 6]
    call_rows(z := floats(2, 4), opts=options(backend, {}))
    assert (z == 2).all()


def test_sizes_of_the_run():
    opts = options("cpu", {})
    for n in (3, 4, 5, 6, 9, 12, 40):  # sizes of the call, then any sizes
        call_product(floats(n, n + 1), floats(n + 1), y := np.zeros(n), 1.0, opts=opts)
        assert (y == n + 1).all()
        call_counted(x := floats(n), n, opts=opts)
        assert (x == 2).all()
    for function, arguments in [
        (call_product, (floats(50, 3), floats(4), floats(50), 1.0)),
        (call_counted, (floats(50), 49)),
    ]:
        with pytest.raises(TypeError, match=r"not 3|not 50"):
            function(*arguments, opts=opts)
    assert (arguments[0] == 1).all()


def test_numbers_that_the_call_computes():
    x = floats(4)
    with pytest.raises(TypeError, match="'n' does not fit its annotation: 3, not 4"):
        call_counted_with_a_loop(x, opts=options("cpu", {}))


@parpy.jit
def labelled(x: buffer(T, [N]), y: buffer(T, [N]), factor: T):
    parpy.label("i")
    for i in range(N):
        y[i] = factor * x[i]


@parpy.jit
def call_labelled(x, y):
    labelled(x, y, 3.0)


@pytest.mark.parametrize("backend", TARGETS)
def test_functions_that_take_the_place_of_their_calls(backend):
    opts = options(backend, {"i": 8})
    call_labelled(floats(9), y := np.zeros(9), opts=opts)
    assert (y == 3).all()
    y = np.zeros(8)
    with pytest.raises(TypeError, match="'y' does not fit its annotation") as error:
        call_labelled(floats(9), y, opts=opts)
    assert "the annotation says parpy.types.buffer" in str(error.value)
    assert not y.any()
    with pytest.raises(TypeError, match="'y' does not fit its annotation"):
        call_labelled(floats(9), np.zeros(9, np.float32), opts=opts)


@parpy.jit
def narrow(n: I8):
    return n * 1


@parpy.jit
def call_narrow(y, x):
    y[0] = narrow(x[0])


@parpy.jit
def call_narrow_with_number(y, k):
    y[0] = narrow(k) + narrow(3)


def test_types_of_numbers():
    y = np.zeros(1)
    call_narrow(y, np.array([7], np.int8))
    assert y[0] == 7
    call_narrow_with_number(y, 4)
    assert y[0] == 7
    for function, argument, message in [
        (call_narrow, np.array([7]), "'n' of 'narrow' is an int64, not int8"),
        (call_narrow_with_number, 2.5, "'n' of 'narrow' is a float, not int8"),
        (call_narrow_with_number, np.int16(2), "'n' of 'narrow' is an int16, not int8"),
        (call_narrow_with_number, 300, "300 does not fit int8"),
    ]:
        with pytest.raises(TypeError, match=message):
            function(y, argument)
