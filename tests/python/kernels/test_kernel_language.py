"""Constructs of Python in kernels: else branches of loops, `in`, calls of kernels, keyword arguments of
launches."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import parpy
from parpy import cuda
from parpy.cuda import types

pytestmark = pytest.mark.usefixtures("simulator")


def results(function, *arguments, n=8):
    """The values that threads 0 to 7 store in the last argument."""
    out = np.zeros(n)
    cuda.jit(function)[1, n](*arguments, out)
    return out.tolist()


# ---------------------------------------------------------------- else branches of loops


def searched(x, i):
    found = 0
    for j in range(4):
        if x[j] == i:
            found = j
            break
    else:
        found = -1
    return found


def counted(x, i):
    n = 0
    for j in range(4):
        for m in range(j):
            if x[m] == i:
                break
        else:
            n += 1
            continue
        break
    else:
        n += 100
    return n


def halved(x, i):
    n = x[0] + 16
    while n > 1:
        if n == i:
            break
        n //= 2
    else:
        return -1
    return n


def left_by_return(x, i):
    for j in range(4):
        if x[j] == i:
            return j, 1
    else:
        i = 77
    return i, 0


@pytest.mark.parametrize("function", [searched, counted, halved, left_by_return])
def test_else_branches_run_unless_the_loop_breaks(function):
    called = cuda.jit(device=True)(function)
    x = np.array([3, 1, 7, 1])

    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = called(x, i)

    def pair(x, out):
        i = cuda.grid(1)
        a, b = called(x, i)
        out[i] = 10 * a + b

    expected = [function(x, i) for i in range(8)]
    if isinstance(expected[0], tuple):
        assert results(pair, x) == [10 * a + b for a, b in expected]
    else:
        assert results(kernel, x) == expected


# ---------------------------------------------------------------- expressions


def test_in_tuples():
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = (x[i] in (1, 3)) + 2 * (x[i] not in (2, i)) + 4 * (i in [0, 5]) + 8 * (i in x.shape)

    x = np.arange(8) // 2
    expected = [(x[i] in (1, 3)) + 2 * (x[i] not in (2, i)) + 4 * (i in [0, 5]) + 8 * (i in (8,)) for i in range(8)]
    assert results(kernel, x) == expected


def test_in_an_array():
    def kernel(x, out):
        out[0] = 1 in x
        out[1] = 2 not in x

    assert results(kernel, np.array([0.0, 2, 1]))[:2] == [1, 0]


def test_complex_of_one_number():
    @cuda.jit
    def kernel(x, z):
        z[0], z[1], z[2] = complex(x[0]), complex(z[2]), complex(x[0], x[1])

    z = np.full(3, 5 + 6j)
    kernel[1, 1](np.array([2, 3]), z)
    assert z.tolist() == [2, 5 + 6j, 2 + 3j]


def test_print_of_nothing(capfd):
    @cuda.jit
    def kernel():
        print("a", "b", sep="-")
        print()

    kernel[1, 1]()
    cuda.synchronize()
    assert capfd.readouterr().out == "a-b\n\n"


# ---------------------------------------------------------------- calls


@cuda.jit
def total(a, b):
    return a + b


@cuda.jit
def count_up(x, i):
    x[i] += 1


def test_kernels_call_those_without_a_signature():
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = total(x[i], 2)
        count_up(out, i)

    assert results(kernel, np.arange(8)) == [i + 3 for i in range(8)]


def test_lambdas_are_device_functions():
    offset = 5
    more, half = cuda.jit(device=True)(lambda a: a + offset), cuda.jit("float32(float32)", device=True)(lambda a: a / 2)

    def kernel(out):
        i = cuda.grid(1)
        out[i] = more(i) + half(i)

    assert results(kernel) == [1.5 * i + 5 for i in range(8)]


def test_device_functions_are_not_launched():
    with pytest.raises(TypeError, match="'f' is a device function: kernels call it, and a kernel is made without"):

        @cuda.jit(device=True)
        def f(x):
            return x

        f[1, 1](1)


def test_keywords_and_defaults_of_kernels_with_signatures():
    @cuda.jit("void(float64[:], float64)")
    def fill(x, b=3.0):
        x[cuda.grid(1)] = b

    x = np.zeros(3)
    fill[1, 3](x)
    assert x.tolist() == [3, 3, 3]
    fill[1, 3](b=4, x=x)
    assert x.tolist() == [4, 4, 4]
    with pytest.raises(TypeError, match="unexpected keyword argument 'c'"):
        fill[1, 3](x, c=4)
    with pytest.raises(TypeError, match="argument 'b' must be a float64"):
        fill[1, 3](x, b=1j)


def test_forall_takes_keywords_and_checks_the_arguments_of_no_launch():
    @cuda.jit("void(float64[:], float64)")
    def fill(x, b=3.0):
        i = cuda.grid(1)
        if i < len(x):
            x[i] = b

    x = np.zeros(3)
    fill.forall(3)(x, b=7)
    assert x.tolist() == [7, 7, 7]
    fill.forall(0)(x)
    with pytest.raises(TypeError, match="argument 'x' must be"):
        fill.forall(0)(x.astype(np.float32))


# ---------------------------------------------------------------- arrays as a whole


def test_ufuncs_of_arrays():
    @cuda.jit
    def kernel(x, y, c, r):
        np.sin(x, r)
        np.add(r[0], c, r[1])
        row = r[2]
        np.multiply(y[0], x[0, :], row)
        np.add(row[0], 0, r[2, :1])

    x, y = np.arange(12.0).reshape(3, 4), np.arange(8.0).reshape(2, 4)
    r = np.zeros((3, 4))
    kernel[1, 1](x, y, 5, r)
    np.testing.assert_allclose(r, [np.sin(x[0]), np.sin(x[0]) + 5, y[0] * x[0]], rtol=1e-15)


def test_ufuncs_are_refused_where_the_arrays_do_not_fit():
    @cuda.jit
    def kernel(x, r):
        np.sin(x, r)

    with pytest.raises((parpy.CompileError, ValueError, IndexError)):
        kernel[1, 1](np.zeros(4), np.zeros(3))


@cuda.jit(device=True)
def middle(a, i):
    v = a[..., i, :]
    return v[1, 2]


def test_an_ellipsis_in_front_of_subscripts():
    @cuda.jit
    def kernel(a, out):
        own = cuda.local.array((2, 3), np.int32)
        own[..., 1] = 8
        own[..., 0] = own[..., 2] = 9
        view = a[..., 1, 2]
        out[0], out[1], out[2] = view[1], a[..., 1, 2][1], a[..., 1, 2, 3]
        out[3], out[4], out[5] = a[0, ..., 1][2], middle(a, 2), own[1, 1]
        a[..., 3] = -1
        a[0, ...][1][0] = -2
        out[6] = own[0, 0]

    a = np.arange(60.0).reshape(3, 5, 4)
    b, out = a.copy(), np.zeros(7)
    with pytest.raises(parpy.CompileError):
        kernel[1, 1](a[0], out)
    kernel[1, 1](a, out)
    assert out.tolist() == [b[1, 1, 2], b[1, 1, 2], b[1, 2, 3], b[0, 2, 1], b[1, 2, 2], 8, 9]
    b[..., 3], b[0, 1, 0] = -1, -2
    assert (a == b).all()


# ---------------------------------------------------------------- data


def test_kernels_write_arrays_of_no_dimension():
    @cuda.jit
    def counts(total, out):
        cuda.atomic.add(total, 0, 1)
        cuda.atomic.add(total, (), 1)
        out[0], out[1] = total.ndim, total.size

    @cuda.jit(device=True)
    def twice(value):
        value[()] *= 2

    @cuda.jit
    def updates(value, out):
        twice(value)
        value[0] += 1
        out[0] = value + value[()]

    @cuda.jit
    def beyond(value):
        value[1] = 2

    for dtype in (np.float64, np.int32):
        given, out = cuda.to_device(dtype(3)), np.zeros(2)
        counts[2, 8](given, out)
        assert given.shape == () and given.copy_to_host() == 3 + 2 * 16 and out.tolist() == [0, 1]
        updates[1, 1](given, out)
        assert given[()] == 71 and out[0] == 142
        with pytest.raises(IndexError, match="'value' has 0 dimensions, but 1 subscript"):
            beyond[1, 1](given)

    @parpy.jit
    def adds(x, n, total):
        for i in range(n):
            total[()] += x[i]

    @parpy.jit
    def fills(x, value):
        for i in range(len(x)):
            x[i] = value

    if not given.on_gpu:
        x = np.arange(100.0)
        adds(x, 100, given)
        assert given[()] == 71 + 4950
        fills(x, given)
        assert (x == 71 + 4950).all()


def test_arrays_of_no_dimension_keep_their_shape():
    given = cuda.to_device(np.array(5.0))
    assert given.shape == () and given.copy_to_host() == 5
    assert given[()] == 5 and given[...].copy_to_host() == 5
    given[()] = 6
    assert cuda.to_device(given).copy_to_host() == 6 and given.reshape(1)[0] == 6
    given[...] = 7
    assert given[()] == 7
    with pytest.raises(TypeError, match="without dimensions"):
        list(given)
    records = cuda.to_device(np.array((1, 2), [("a", "f4"), ("b", "i4")]))
    assert records[()].tolist() == (1, 2)
    assert list(cuda.to_device(np.arange(3))) == [0, 1, 2]
    assert [row.copy_to_host().tolist() for row in cuda.to_device(np.eye(2))] == [[1, 0], [0, 1]]


def test_types_of_arrays_take_keywords():
    assert types.Array(dtype=types.float32, ndim=2, layout="C") == types.float32[:, ::1]
    assert types.Array(types.float32, ndim=1) == types.float32[:]


def test_events_that_take_no_time():
    begin, end = cuda.event(timing=False), cuda.event()
    begin.record()
    end.record()
    with pytest.raises(ValueError, match="measures no time"):
        begin.elapsed_time(end)


def test_constants_are_global_arrays():
    @cuda.jit
    def kernel(x):
        table = cuda.const.array_like([1, 2])
        x[0] = table[0]

    with pytest.raises(parpy.CompileError, match=r"takes a global NumPy array by its name"):
        kernel[1, 1](np.zeros(1))


def test_the_note_on_the_simulator_stands_at_the_line_of_the_user(monkeypatch):
    from parpy.cuda import _backend

    monkeypatch.setattr(_backend, "_simulated", None)
    monkeypatch.setattr(_backend._native, "cuda_unavailable", lambda: "there is no driver")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cuda.to_device(np.zeros(3))
    assert [each.filename for each in caught] == [__file__]
