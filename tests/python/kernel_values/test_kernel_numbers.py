"""Kernels written by hand compute with numbers: bits, floats, complex; and print."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kernel_places
from nvrtc import cubin
from parpy import cuda

backend = kernel_places.backend
rng = np.random.default_rng(11)


@cuda.jit
def numbers(x, out):
    i = cuda.grid(1)
    out[i, 0] = cuda.popc(x[i])
    out[i, 1] = cuda.clz(x[i])
    out[i, 2] = cuda.ffs(x[i])
    out[i, 3] = cuda.brev(x[i])
    out[i, 4] = cuda.selp(x[i] > 3, 1, 2)


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_bits(dtype):
    bits = 8 * np.dtype(dtype).itemsize
    x = rng.integers(0, 2**bits, 32, dtype, endpoint=False)
    x[0] = 0
    out = np.zeros((32, 5), np.uint64)
    numbers[1, 32](x, out)
    for value, row in zip(x.tolist(), out.tolist(), strict=True):
        text = f"{value:0{bits}b}"
        first = len(text) - text.rindex("1") if value else 0
        assert row[:4] == [text.count("1"), len(text) - len(text.lstrip("0")), first, int(text[::-1], 2)]


@cuda.jit
def floats(x, y):
    i = cuda.grid(1)
    y[i, 0] = cuda.fma(x[i], x[i], 1.0)
    y[i, 1] = cuda.cbrt(x[i])
    y[i, 2] = cuda.rsqrt(x[i])
    y[i, 3] = math.sin(x[i]) / 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats(dtype):
    x = rng.random(32).astype(dtype) + dtype(0.5)
    y = np.zeros((32, 4), dtype)
    floats[1, 32](x, y)
    want = np.stack([x * x + 1, np.cbrt(x), 1 / np.sqrt(x), np.sin(x) / 3], 1)
    np.testing.assert_allclose(y, want, rtol=1e-6 if dtype is np.float32 else 1e-14)


@cuda.jit
def shout(x):
    i = cuda.grid(1)
    if i < 2:
        print("thread", i, "has", x[i], x[i] > 0)


def test_print(capfd):
    shout[1, 32](np.array([1.5, -2.0]))
    cuda.synchronize()
    out = capfd.readouterr().out.splitlines()
    assert sorted(out) == ["thread 0 has 1.5 True", "thread 1 has -2.0 False"]


@cuda.jit
def show(x):
    for i in range(len(x)):
        print(x[i])


def shown(x, capfd):
    show[1, 1](x)
    cuda.synchronize()
    return capfd.readouterr().out.split()


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_printed_floats_are_read_as_the_same_numbers(dtype, capfd):
    largest = np.finfo(dtype).max
    x = np.array([1 / 3, 0.1, -0.0, 3, 1234567, 5e-5, largest, np.inf, -np.inf, *rng.random(100)]).astype(dtype)
    found = shown(x, capfd)
    np.testing.assert_array_equal(np.array(found, dtype), x)
    expected = {np.float64: "0.3333333333333333", np.float32: "0.33333334", np.float16: "0.3333"}[dtype]
    assert found[:4] == [expected, "0.1", "-0.0", "3.0"] and found[5] == str(x[5])
    same = sum(text == str(value) for text, value in zip(found, x, strict=True))
    assert same > 100  # Python's text; in some cases the last digit differs
    with np.errstate(all="ignore"):
        found = shown(np.array([np.nan, -np.nan], dtype), capfd)
        assert [text.removeprefix("-") for text in found] == ["nan", "nan"]  # a GPU may print the sign


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.complex64, np.int8])
def test_the_text_of_print_compiles(dtype):
    cubin(show.inspect_source(np.zeros(3, dtype)))


@cuda.jit
def show_together(x, y, z):
    print(x[0], y[0], z[0], x[1] > 0, 7, sep="|")


def test_printed_values_of_one_line(capfd):
    show_together[1, 1](np.array([0.5, 1]), np.array([0.25], np.float32), np.array([1 + 0.5j]))
    show_together[1, 1](np.array([1 / 3, 0]), np.array([0.25], np.float32), np.array([-2j / 3]))
    cuda.synchronize()
    lines = capfd.readouterr().out.splitlines()
    assert lines == ["0.5|0.25|(1+0.5j)|True|7", "0.3333333333333333|0.25|(-0-0.6666666666666666j)|False|7"]


@cuda.jit(fma=False)
def mandel(real, imaginary, image, limit):
    x, y = cuda.grid(2)
    if x < image.shape[1] and y < image.shape[0]:
        c = complex(real[x], imaginary[y])
        z = 0j
        count = 0
        while count < limit and z.real * z.real + z.imag * z.imag < 4:
            z = z * z + c
            count += 1
        image[y, x] = count


def test_mandelbrot():
    real, imaginary = np.linspace(-2, 1, 40), np.linspace(-1, 1, 30)
    image = np.zeros((30, 40), np.uint8)
    mandel[(5, 4), (8, 8)](real, imaginary, image, 50)
    c = real[None, :] + 1j * imaginary[:, None]
    z, want = np.zeros_like(c), np.zeros(c.shape, int)
    for _ in range(50):
        alive = np.abs(z) < 2
        want[alive] += 1
        z[alive] = z[alive] ** 2 + c[alive]
    np.testing.assert_array_equal(image, want)


OFFSET, SMALL = 3 + 4j, np.complex64(1 + 2j)


@cuda.jit
def parts_of_globals(out):
    out[0], out[1], out[2] = OFFSET.real, OFFSET.imag, SMALL.imag


def test_parts_of_complex_globals():
    out = np.zeros(3)
    parts_of_globals[1, 1](out)
    assert out.tolist() == [3, 4, 2]


@cuda.jit
def smallest(x):
    cuda.atomic.min(x, 0, 1)


def test_what_atomics_take():
    with pytest.raises(TypeError, match="help: use an array of integers or floats"):
        smallest[1, 1](np.zeros(1, complex))


@cuda.jit("float32(float32)", device=True)
def doubled(x):
    return x * 2


@cuda.jit("int32(float64)", device=True)
def whole(x):
    return x * 1.5


@cuda.jit("uint8(uint8, boolean)", device=True)
def counted(x, more=True):
    return x + 1 if more else x


@cuda.jit("float64(float64[:], int32)", device=True)
def third_of(x, i):
    return x[i] / 3


@cuda.jit("void(float64[:], float32)", device=True)
def put(x, value):
    x[0] = value


@cuda.jit
def by_signatures(out, x, n):
    out[0], out[1], out[2] = doubled(1.1), doubled(2**24 + 1), whole(3.0)
    out[3], out[4], out[5] = counted(n, 5), counted(x.size * 150, 0), third_of(x, np.int64(1))
    put(x, 0.1)


def test_numbers_have_the_types_of_signatures_of_device_functions():
    x, out = np.array([1.0, 2.0]), np.zeros(6)
    by_signatures[1, 1](out, x, 255)
    assert out.tolist() == [np.float32(1.1) * np.float32(2), 2.0**25, 4, 0, 44, 2 / 3]
    assert x[0] == np.float32(0.1)
