"""Names of transposed and reshaped arrays in kernels, which alias the elements, and strides."""

from __future__ import annotations

import numpy as np
import pytest

import kernel_places
import parpy
from nvrtc import cubin
from parpy import cuda
from parpy.library.texts import function_of

backend = kernel_places.backend
rng = np.random.default_rng(8)


@cuda.jit
def written(x, out):
    i = cuda.grid(1)
    flat = x.ravel()
    if i < flat.size:
        grid, turned = x.reshape(3, -1), x.T
        row = grid[i % 3]
        out[i] = flat[i] + 100 * grid[i % 3, -1] + turned[i % x.shape[1], 0] + row[1] + x.flat[i]
        cuda.syncthreads()
        turned[i % x.shape[1], i // x.shape[1]] = -flat[i] if flat[i] > 0 else 1


@pytest.mark.parametrize("order", "CF")
def test_names_of_moved_elements(order):
    x, out = np.asarray(np.arange(12.0).reshape(4, 3), order=order), np.zeros(12)
    i, flat, grid = np.arange(12), x.ravel(), x.reshape(3, -1)
    wanted = 2 * flat + 100 * grid[i % 3, -1] + x.T[i % 3, 0] + grid[i % 3, 1]
    stored = np.where(x > 0, -x, 1)
    written[1, 12](x, out)
    np.testing.assert_array_equal(out, wanted)
    np.testing.assert_array_equal(x, stored)
    cubin(written.inspect_source(x, out))


@cuda.jit(device=True)
def weighted(v):
    total = 0.0
    for i in range(v.shape[0]):
        for j in range(v.shape[1]):
            total += v[i, j] * (i + 1)
            v[i, j] = total
    return total


@cuda.jit
def passed_on(x, n, out):
    whole = x[:, 1:].reshape(n, -1)
    out[0] = weighted(whole)
    out[1] = weighted(whole.T)
    out[2] = weighted(whole[1:, ::2])
    out[3] = weighted(x.T)
    out[4] = weighted(x.reshape(2, x.size // 2).T)
    own = cuda.local.array(6, np.float64)
    for i in range(6):
        own[i] = i
    out[5] = weighted(own.reshape((3, 2)))


@pytest.mark.parametrize("n", [1, 2, 4])
def test_device_functions_get_them(n):
    x, out = np.arange(12.0).reshape(4, 3)[:, ::-1].copy()[:, ::-1], np.zeros(6)
    y, wanted, total = np.arange(12.0).reshape(4, 3), np.zeros(6), weighted.py_func
    part = y[:, 1:].copy()
    whole = part.reshape(n, -1)
    wanted[:3] = total(whole), total(whole.T), total(whole[1:, ::2])
    y[:, 1:] = part
    wanted[3:] = total(y.T), total(y.reshape(2, 6).T), total(np.arange(6.0).reshape(3, 2))
    passed_on[1, 1](x, n, out)
    np.testing.assert_array_equal(out, wanted)
    np.testing.assert_array_equal(x, y)


@cuda.jit
def values(x, out, counts):
    tile = cuda.shared.array(6, np.float64)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    cuda.syncthreads()
    if i == 0:
        out[:, :] = tile.reshape(3, 2).T + 1
        counts[0] = np.sum(tile.reshape(2, 3))
    cuda.atomic.add(counts.reshape(2, 2), (1, i % 2), 1)


def test_values_and_atomics():
    x, out, counts = np.arange(6.0), np.zeros((2, 3)), np.zeros(4)
    values[1, 6](x, out, counts)
    np.testing.assert_array_equal(out, x.reshape(3, 2).T + 1)
    np.testing.assert_array_equal(counts, [15, 0, 3, 3])


@cuda.jit
def distances(x, out):
    part, turned, row = x[1:, ::2], x.T, x[0]
    down, across = x.strides
    out[0], out[1], out[2], out[3] = part.strides[0], part.strides[1], turned.strides[0], turned.strides[1]
    out[4], out[5], out[6], out[7] = x.strides[-1], len(x.strides), down + across, row.strides[0]


@pytest.mark.parametrize("make", [np.ascontiguousarray, np.asfortranarray, lambda x: x[::-1, ::3]])
def test_strides(make):
    x, out = make(np.zeros((4, 6), np.float32)), np.zeros(8, np.int64)
    distances[1, 1](x, out)
    part = x[1:, ::2]
    np.testing.assert_array_equal(out, [*part.strides, *x.T.strides, x.strides[-1], 2, sum(x.strides), x[0].strides[0]])


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("m = x.reshape(n, 5)\nm[0, 0] = 1", "an array of 12 elements cannot have a shape for 15"),
        ("m = x.reshape(n, 4)\nm[0, n + 1] = 1", "subscript 4 is out of bounds for axis 1 of 'm'"),
        ("m = x.reshape(3, 4)\nm[1:, 1:] = 1", "'m' is transposed or reshaped, and sliced here"),
        ("m = x.reshape(3, 4)\nm[cuda.atomic.add(x, 0, 1), 0] = 1", "this subscript has effects"),
        ("m = x.reshape(3, 4)\nx[0] = m.strides[0]", "its elements have no such distances"),
        (
            "if n > 1:\n    m = x.reshape(3, 4)\nelse:\n    m = x.reshape(4, 3)\nm[0, 0] = 1",
            "reshaped part of an array",
        ),
    ],
)
def test_mistakes(body, text):
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    function = function_of(f"def kernel(x, n):\n{lines}", "kernel", f"<shape {abs(hash(body))}>", cuda=cuda)
    kernel = cuda.jit(debug=True)(function)
    with pytest.raises((parpy.CompileError, IndexError), match=text):
        kernel[1, 1](np.zeros(12, np.int64), 3)
        cuda.synchronize()


def test_arrays_of_no_dimension():
    @cuda.jit
    def stored(x, y):
        if cuda.grid(1) == 0:
            x[()] = y[()] + 1
        cuda.atomic.add(x, (), 2.0)

    @cuda.jit
    def read(x, out):
        out[0] = x + 1

    x, y, out = np.zeros(()), np.array(3.0), np.zeros(1)
    y.flags.writeable = False
    stored[1, 1](x, y)
    stored[1, 1](x, y)
    assert x == 6
    read[1, 1](x, out)
    assert out[0] == 7


# ---------------------------------------------------------------- slices

SLICES = [
    "y[i, 1:]", "y[i, ::-1]", "y[i]", "y[i, 3:0:-2]", "y[1:, i]", "y[:, -1 - i]", "y[i, i:]", "y.T[i]", "y.T[i, 1:]",
    "y[1:][i % 2, 1::2]", "y[::-1, ::2][i]", "x[1:9].reshape(2, 4)[i % 2, 1:]", "x[::-2].reshape(3, 2)[i, i % 2:]",
    "x.reshape(2, 3, 2)[1, i % 3]", "x.reshape(2, 3, 2)[:, i % 3, 1]", "x.reshape(m, n - 2, 2)[i, 1:, 1]",
    "z.T[1:, i]", "z.T[i % 2, ::-1]", "z[1:].T[i % 2]",
]  # fmt: skip


@pytest.mark.parametrize("text", SLICES)
def test_slices_of_moved_arrays(text):
    def body(place):
        return (
            f"        row = {text}\n"
            f"        out[i, 0] = ({text}).sum()\n"
            "        out[i, 1] = row.sum() + 10 * row.shape[0]\n"
            f"        out[i, 2] = np.max(2 * {text} + row)\n"
            f"        {place}\n"
        )

    lines = "        y = x.reshape(m, n)\n" + body(f"part = {text}\n        part += 100 * (i + 1)")
    threads = 2 if "[i % 2" in text else 3  # no two of them touch one element
    given = f"def kernel(x, z, m, n, out):\n    i = cuda.grid(1)\n    if i < {threads}:\n" + lines
    whole = f"def kernel(x, z, m, n, out):\n    for i in range({threads}):\n" + lines
    x, z, out = np.arange(12.0), np.arange(9.0).reshape(3, 3), np.zeros((3, 3))
    wanted = x.copy(), z.copy(), np.zeros((3, 3))
    own = function_of(given, "kernel", f"<moved {text}>", cuda=cuda)
    cuda.jit(own)[3, 1](x, z, 3, 4, out)
    function_of(whole, "kernel", f"<moved plain {text}>")(*wanted[:2], 3, 4, wanted[2])
    for ours, theirs in zip((x, z, out), wanted, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_slices_of_moved_arrays_that_overlap():
    @cuda.jit
    def shifted(x, z):
        i = cuda.grid(1)
        y, w = x.reshape(3, 4), z.T
        y[i, 1:] = y[i, :-1] * 2
        w[i, :-1] += w[i, 1:]

    x, z = np.arange(12.0), np.arange(9.0).reshape(3, 3)
    wanted, turned = x.copy().reshape(3, 4), z.copy()
    shifted[1, 3](x, z)
    wanted[:, 1:] = wanted[:, :-1] * 2
    turned[:-1] += turned[1:]
    np.testing.assert_array_equal(x.reshape(3, 4), wanted)
    np.testing.assert_array_equal(z, turned)
    cubin(shifted.inspect_source(x, z))


# ---------------------------------------------------------------- other elements

WORDS = np.dtype("u4")


@cuda.jit
def other_elements(x, bytes_of, words):
    i = cuda.grid(1)
    own = x.view(np.uint8)
    if i < own.size:
        bytes_of[i] = own[i]
    if i < x.size:
        words[i] = x.view(WORDS)[i] >> 23
        cuda.syncwarp()
        x.view("i4")[i] = 0x40000000 + i
        x[i] += 1


@pytest.mark.parametrize("on_device", [False, True])
def test_views_as_other_elements(on_device):
    given = np.array([1.5, -2.0, 0.0], np.float32)
    x, bytes_of, words = cuda.to_device(given) if on_device else given.copy(), np.zeros(12, np.uint8), np.zeros(3)
    other_elements[1, 32](x, bytes_of, words)
    assert (bytes_of == given.view(np.uint8)).all() and (words == given.view("u4") >> 23).all()
    want = (0x40000000 + np.arange(3, dtype=np.int32)).view(np.float32) + 1
    assert ((x.copy_to_host() if on_device else x) == want).all()
    assert other_elements.signatures[-1][1:] == (cuda.uint8[::1], cuda.float64[::1])


def test_views_of_arguments_of_signatures():
    @cuda.jit("void(float64[:], int64[:])")
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = x.view(cuda.int64)[i]

    x, out = rng.random(4), np.zeros(4, np.int64)
    kernel[1, 4](x, out)
    assert (out == x.view(np.int64)).all() and ".entry" in cuda.compile_ptx(kernel.py_func, (cuda.f8[:], cuda.i8[:]))[0]


def test_what_has_no_such_view():
    @cuda.jit
    def kernel(x, out):
        out[0] = x.view(np.int32)[0]

    with pytest.raises(TypeError, match="argument 1 must be an array, of which the kernel takes a view as int32"):
        kernel[1, 1](3, np.zeros(1))
    with pytest.raises(ValueError, match="larger dtype"):
        kernel[1, 1](np.zeros(3, np.int8), np.zeros(1))
