"""parpy.types: the checks of annotations, symbols as values, conversions."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import parpy
from backends import BACKENDS, options, run
from parpy.types import F32, F64, I8, I32, I64, ElemSize, buffer, complex64, shape_var, symbol, type_var

N, M = symbol("N"), shape_var("M")
T = type_var("T")
CPU = parpy.CompileOptions(backend=parpy.CompileBackend.Cpu)


@parpy.jit
def scale(x: buffer(F32, [N]), a: parpy.types.F32):
    parpy.label("N")
    for i in range(N):
        x[i] *= a


@parpy.jit
def product(a: buffer(T, [N, M]), b: buffer(T, [M]), c: buffer(T, [N])):
    parpy.label("N")
    for i in range(N):
        for j in range(M):
            c[i] += a[i, j] * b[j]


@parpy.jit
def fill(x: buffer(F64, [4]), n: I64, v: I32):
    for i in range(n):
        x[i] = v


@parpy.jit
def counted(x: buffer(F64, [N]), n: N):
    for i in range(n):
        x[i] = n


@pytest.mark.parametrize("backend", BACKENDS)
def test_symbols_are_values(backend):
    x = np.ones(10, np.float32)
    run(backend, scale, (x, 3.0), {"N": 10})
    assert (x == 3).all()
    scale(x, 2.0, seq=True)
    assert (x == 6).all()
    with pytest.raises(TypeError, match="has a value only"):
        range(N)
    a, b, c = np.ones((3, 5)), np.arange(5.0), np.zeros(3)
    run(backend, product, (a, b, c), {"N": 3})
    assert (c == 10).all()


def test_helpers_have_symbols_too():
    @parpy.jit
    def total(x: buffer(F64, [N])):
        s = 0.0
        for i in range(N):
            s += x[i]
        return s

    @parpy.jit
    def f(x, y):
        y[0] = total(x)

    y = np.zeros(1)
    f(np.ones(7), y, opts=CPU)
    assert y[0] == 7


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (scale, (np.ones(3), 1.0), r"'x' is an array of f64 with 1 dimension, but its annotation says .*buffer\(.*F32"),
        (scale, (np.ones((3, 1), np.float32), 1.0), "'x' is an array of f32 with 2 dimensions"),
        (scale, (1.0, 1.0), "'x' is a number of type float"),
        (scale, (np.ones(3, np.float32), np.ones(3)), "'a' is an array of f64"),
        (scale, (np.ones(3, np.float32), np.bool_(1)), "'a' is a number of type bool"),
        (product, (np.ones((3, 5)), np.ones(4), np.ones(3)), r"'b' has the extent 4 .*: 5, as for argument 'a'"),
        (product, (np.ones((3, 5)), np.ones(5, np.float32), np.ones(3)), "whose type is f64 in argument 'a'"),
        (fill, (np.ones(5), 3, 1), r"'x' has the extent 5 in dimension 0, but its annotation says .*: 4"),
        (fill, (np.ones(4), 3, 1.5), "'v' is a number of type float"),
        (counted, (np.ones(4), 3), "'n' is 3, but its annotation says N: 4, as for argument 'x'"),
    ],
)
def test_arguments_that_annotations_refuse(function, arguments, message):
    before = [np.copy(a) for a in arguments]
    for call in (
        lambda: function(*arguments, opts=CPU),
        lambda: parpy.print_compiled(function, arguments, CPU),
        lambda: parpy.explain(function, *arguments, opts=CPU),
    ):
        with pytest.raises(TypeError, match=message):
            call()
    assert all(np.array_equal(a, b) for a, b in zip(arguments, before, strict=True))


def test_run_time_extents_are_compared():
    """Sizes that keep changing are run-time values of one program; sizes that disagree are still refused."""

    @parpy.jit
    def add(x: buffer(F64, [N]), y: buffer(F64, [N])):
        for i in range(N):
            y[i] += x[i]

    for n in range(2, 30):
        y = np.ones(n)
        add(np.ones(n), y, opts=CPU)
        assert (y == 2).all()
    assert "x.shape[0]" in add.cache_info().run_time
    y = np.ones(40)
    with pytest.raises(TypeError, match="'y' has the extent 40"):
        add(np.ones(50), y, opts=CPU)
    assert (y == 1).all()
    add(np.ones(40), y, opts=CPU)
    assert (y == 2).all()


def test_numbers_take_the_annotated_type():
    @parpy.jit
    def f(x, a: F32):
        x[0] = a

    x = np.zeros(1)
    f(x, 0.1, opts=CPU)
    assert x[0] == float(np.float32(0.1))


def test_annotations_as_text_and_foreign_ones():
    space = {"parpy": parpy, "np": np, "N": N}

    @parpy.jit
    def f(x: parpy.types.buffer(parpy.types.F64, [N]), n: int, s: unknown.Thing, t: list[int]):  # noqa: F821
        for i in range(n):
            x[i] = s + t

    assert space
    x = np.zeros(3)
    f(x, 3, 1, 2, opts=CPU)
    assert (x == 3).all()
    with pytest.raises(TypeError, match="annotation"):
        f(np.zeros(3, np.float32), 3, 1, 2, opts=CPU)


def test_a_symbol_without_a_place():
    @parpy.jit
    def f(x):
        for i in range(N):
            x[i] = 0.0

    with pytest.raises(parpy.CompileError, match="symbol 'N' occurs in no annotation of 'f'"):
        f(np.zeros(3), opts=CPU)


@pytest.mark.parametrize("size", [*ElemSize, parpy.types.BF16, parpy.types.C64, parpy.types.C128])
def test_elem_sizes(size):
    assert getattr(parpy.types, size.name) is size and len(ElemSize) == 12
    if size.name != "BF16":
        assert np.dtype(size.to_numpy()).itemsize == size.size()
    if size.name[0] != "C":
        assert ctypes.sizeof(size.to_ctype()) == size.size()


def test_types_that_cannot_be():
    with pytest.raises(TypeError, match="scalar type"):
        buffer("f32", [N])
    with pytest.raises(TypeError, match="an extent"):
        buffer(F32, [1.5])
    with pytest.raises(ValueError, match="not be negative"):
        buffer(F32, [-1])
    assert buffer(np.float32, (3,)) == buffer(F32, [3])
    assert parpy.types.bf16 is parpy.types.BF16 and parpy.types.complex64 is parpy.types.C64


@parpy.jit
def converted(x, y):
    parpy.label("i")
    for i in range(8):
        y[i] = parpy.builtin.convert(x[i], parpy.types.I32) + parpy.builtin.convert(1.75, ElemSize.F16)


@pytest.mark.parametrize("backend", [*BACKENDS, "seq"])
def test_convert(backend):
    x, y = np.linspace(-3, 3, 8), np.zeros(8)
    if backend == "seq":
        converted(x, y, seq=True)
    else:
        run(backend, converted, (x, y), {"i": 8})
    assert np.array_equal(y, x.astype(np.int32) + 1.75)


def test_names_of_symbols():
    for make in (symbol, type_var):
        with pytest.raises(TypeError, match="is a str, not 3"):
            make(3)


def test_options_take_types():
    assert options("cpu", {}).force_int_size is None
    opts = parpy.CompileOptions(force_int_size=parpy.types.I32, force_float_size=parpy.types.F32)
    assert opts.force_int_size is ElemSize.I32


ROWS, ELEMENT = parpy.types.symbol(), parpy.types.type_var()


@parpy.jit
def doubled_f32(x: parpy.types.buffer(parpy.types.F32, [ROWS]), y: parpy.types.buffer(parpy.types.F32, [ROWS])):
    for i in range(ROWS):
        y[i] = 2 * x[i]


@parpy.jit
def doubled_same(x: parpy.types.buffer(ELEMENT, [ROWS]), y: parpy.types.buffer(ELEMENT, [ROWS])):
    for i in range(ROWS):
        y[i] = 2 * x[i]


def test_messages_name_symbols_as_the_program_does():
    short, wide = np.ones(3, np.float32), np.ones(3)
    for function, arguments in ((doubled_f32, (wide, short)), (calls_f32, (wide, short))):
        with pytest.raises(
            parpy.CompileError, match=r"annotation says parpy.types.buffer\(parpy.types.F32, \[ROWS\]\)"
        ):
            function(*arguments)
    with pytest.raises(parpy.CompileError, match=r"annotation says parpy.types.buffer\(ELEMENT, \[ROWS\]\): 3"):
        doubled_same(wide, np.ones(4))


@parpy.jit
def next_one(n: parpy.types.I32):
    return n + 1


@parpy.jit
def calls_f32(x, y):
    doubled_f32(x, y)


@parpy.jit
def calls_same(x, y):
    doubled_same(x, y)


@parpy.jit
def calls_with_a_float(x, y):
    y[0] = next_one(1.5)


@parpy.jit
def calls_with_an_extent(x, y):
    y[0] = next_one(x.shape[0])


def test_annotations_of_helpers():
    for function, first, second, fits in [
        (calls_f32, "f", "f", True),
        (calls_f32, "d", "f", False),
        (calls_f32, "f", "d", False),
        (calls_same, "d", "d", True),
        (calls_same, "f", "f", True),
        (calls_same, "f", "d", False),
        (calls_with_an_extent, "f", "d", True),
    ]:
        x, y = np.ones(3, first), np.zeros(3, second)
        if fits:
            function(x, y)
            assert y[0] == (4 if function is calls_with_an_extent else 2)
        else:
            with pytest.raises(parpy.CompileError, match="has elements of type float"):
                function(x, y)
            assert not y.any()
    with pytest.raises(parpy.CompileError, match="an integer is needed here, not a float"):
        calls_with_a_float(np.ones(3), np.zeros(3))


@parpy.jit
def wrapped(n: I8):
    return n * 1


@parpy.jit
def call_out_of_range(y):
    y[0] = wrapped(300)


@parpy.jit
def store_narrow_complex(x, k: complex64):
    x[0] = k


def test_numbers_of_annotations_under_seq():
    y = np.zeros(1)
    with pytest.raises(TypeError, match="300 does not fit int8, whose values are -128 to 127"):
        call_out_of_range(y)
    with pytest.raises(OverflowError, match=r"^300 does not fit parpy\.types\.I8$"):
        call_out_of_range(y, seq=True)
    for k in (0.1, 1, 0.1 + 0.3j):
        got, want = np.zeros(1, complex), np.zeros(1, complex)
        store_narrow_complex(want, k, seq=True)
        store_narrow_complex(got, k)
        assert got == want == np.complex64(k)


@parpy.jit
def scaled_by_array_of_no_dimensions(x: buffer(T, [N]), k: buffer(T, [])):
    for i in range(N):
        x[i] = k * 2


def test_arrays_without_dimensions_are_numbers():
    for k in (np.float32(1.5), np.array(1.5, np.float32), 1.5, np.float64(1.5), np.array(1.5)):
        x, want = np.zeros(3, np.float32), np.zeros(3, np.float32)
        scaled_by_array_of_no_dimensions(want, k, seq=True)
        scaled_by_array_of_no_dimensions(x, k)
        assert x.tolist() == want.tolist() == [3, 3, 3]
    for k in (np.bool_(1), np.ones(1, np.float32)):
        with pytest.raises(TypeError, match="argument 'k' is a"):
            scaled_by_array_of_no_dimensions(x, k)
