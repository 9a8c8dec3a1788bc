"""Tuples in kernels: as names, as subscripts, as arguments and as results of device functions."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kernel_places
import parpy
from nvrtc import cubin
from parpy import cuda

backend = kernel_places.backend
rng = np.random.default_rng(23)
CORNER = (1, 2)
CORNERS = ((0, 0), (1, 2))


# ---------------------------------------------------------------- names and subscripts


@cuda.jit
def named(x, out):
    pos = (1, 2)
    x[pos] = 50
    pos = (pos[1], pos[0])
    x[pos] += 7
    x[CORNERS[1]] += (0, 1)[1]
    chosen = (0, 1)
    if x[0, 0] != 0:
        chosen = (0, 2)
    x[chosen] = 77
    cuda.atomic.add(x, chosen, 3)
    cuda.atomic.add(x, CORNER, 1)
    i, j = pos
    other = pos
    pos = (5, 6, 7)
    out[0], out[1], out[2], out[3] = len(pos), pos[-1], i, other[1] + j


@pytest.mark.parametrize("first", [0, 4])
def test_tuples_have_names_and_are_subscripts(first):
    x, out = np.arange(12.0).reshape(3, 4), np.zeros(4)
    x[0, 0] = first
    want = x.copy()
    want[1, 2], want[2, 1] = 52, want[2, 1] + 7
    want[0, 2 if first else 1] = 80
    named[1, 1](x, out)
    np.testing.assert_array_equal(x, want)
    np.testing.assert_array_equal(out, [3, 7, 2, 2])


@cuda.jit
def placed(x, counts):
    if cuda.grid(2)[0] < x.shape[0] and cuda.grid(2)[1] < x.shape[1]:
        x[cuda.grid(2)] += 1
        place = cuda.grid(2)
        x[place] += place[0] + 10 * place[1]
        cuda.atomic.add(x, cuda.grid(2), 100)
    counts[0], counts[1] = cuda.gridsize(2)[0], len(cuda.gridsize(3))


def test_places_are_subscripts():
    x, counts = np.zeros((3, 5)), np.zeros(2)
    placed[(2, 1), (2, 8)](x, counts)
    i, j = np.indices(x.shape)
    np.testing.assert_array_equal(x, 101 + i + 10 * j)
    np.testing.assert_array_equal(counts, [4, 3])


# ---------------------------------------------------------------- arguments


@cuda.jit(device=True)
def at(x, pos, scale=1):
    return scale * (x[pos] + x[pos[0], pos[1]] + len(pos))


@cuda.jit(device=True)
def nested(pos, x):
    i, j = pos
    return at(x, (j, i)) + at(pos=pos, x=x, scale=2)


@cuda.jit
def arguments(x, out):
    pos = (0, 1)
    out[0] = at(x, pos) + at(x, (1, 0), 3) + at(x, CORNER)
    out[1] = nested((0, 2), x)


def test_tuples_as_arguments():
    x, out = rng.random((3, 3)), np.zeros(2)
    arguments[1, 1](x, out)
    one = lambda i, j: 2 * x[i, j] + 2  # noqa: E731
    np.testing.assert_allclose(out, [one(0, 1) + 3 * one(1, 0) + one(1, 2), one(2, 0) + 2 * one(0, 2)])


# ---------------------------------------------------------------- shapes


@cuda.jit(device=True)
def volume(shape):
    found = 1
    for k in range(len(shape)):
        found *= shape[k]
    return found


@cuda.jit(device=True)
def volumes(x):
    shape = x.shape
    return volume(shape) + 1000 * volume(x[0].shape)


@cuda.jit
def of_shapes(x, k, out):
    shape = x.shape
    row = x[1]
    own = cuda.local.array((2, 3), np.int32)
    out[0], out[1], out[2] = shape[0], shape[-1], len(shape)
    shape = (*x.shape[1::-1], k)
    shape = (shape[0], shape[1]) + shape[2:]  # noqa: RUF005
    out[3], out[4], out[5] = shape
    out[6], out[7] = volumes(x), volumes(x[:, 1:])
    out[8], out[9] = volume(own.shape), volume(row.shape)
    out[10] = (row.shape == x.shape[1:]) + 10 * (x.shape == own.shape) + 100 * (x.shape != own.shape)
    out[11] = x.shape[k] + 10 * x[:2].shape[k - 2]
    (n, m), rank = x[0].shape, x.ndim
    out[12], out[13] = n * m, rank
    for i in range(2):
        if i == k:
            shape = (7, 8, 9)
    out[14] = shape[k]


def test_shapes_are_tuples():
    for x, want in (
        (np.zeros((2, 3, 4)), [2, 4, 3, 3, 2, 1, 12024, 8016, 6, 12, 101, 43, 12, 3, 8]),
        (np.zeros((4, 2, 5), np.float32), [4, 5, 3, 2, 4, 1, 10040, 5020, 6, 10, 101, 52, 10, 3, 8]),
    ):
        out = np.zeros(15)
        of_shapes[1, 1](x, 1, out)
        np.testing.assert_array_equal(out, want)
        cubin(of_shapes.inspect_source(x, 1, out))


@cuda.jit
def any_rank(x, out):
    out[0] = volume(x.shape) + 1000 * len(x.shape)


def test_kernels_that_ask_for_shapes_take_any_number_of_dimensions():
    out = np.zeros(1)
    for shape in ((5,), (2, 3), (2, 3, 4), (3, 1)):
        any_rank[1, 1](np.zeros(shape), out)
        assert out[0] == 1000 * len(shape) + math.prod(shape)


@cuda.jit
def beyond(x, k, out):
    out[0] = x.shape[k]


@pytest.mark.parametrize("k", [2, -3])
def test_an_extent_beyond_the_shape_is_found(k, backend):
    if backend == "cuda":
        pytest.skip("subscripts are checked on the simulator, and with debug=True")
    with pytest.raises(IndexError, match=f"subscript {k} is out of bounds for a tuple of 2 elements"):
        beyond[1, 1](np.zeros((2, 3)), k, np.zeros(1))


# ---------------------------------------------------------------- tuples in tuples


@cuda.jit(device=True)
def summed(pair):
    (a, b), c = pair
    return a + 10 * b + 100 * c


@cuda.jit(device=True)
def grown(a):
    return (a, a + 1), a + 2


@cuda.jit(device=True)
def counted(x):
    x[0] += 1
    return x[0], 10 * x[0]


@cuda.jit
def in_tuples(x, out):
    pair = ((1, 2), 3)
    out[0] = x[pair[0]] + pair[1]
    inner, c = pair
    (a, b), inner = pair[0], (inner[1], c)
    out[1] = a + 10 * b + 100 * inner[0] + 1000 * inner[1]
    out[2] = summed(pair) + summed(((4, 5), 6))
    (a, b), c = grown(7)
    out[3] = a + b + c + grown(1)[0][1]
    found = (x[0, 0], counted(x[0]), x[0, 0])
    out[4] = found[0] + 10 * found[1][0] + 100 * found[2]
    chosen = (a, b) if x[0, 1] > 0 else (b, a)
    out[5] = chosen[0]
    out[6] = CORNERS[1][0] + len(CORNERS[0])
    pair = ((pair[0][1], pair[0][0]), 9)
    out[7] = summed(pair)
    if pair[0] == (2, 1) and pair != ((1, 2), 9):
        out[8] = 1
    deep = (a, (chosen, pair[0]))
    out[9] = deep[1][1][0] + 10 * deep[1][0][1]
    first, second = (1, 2), (3, 4)
    first, second = second, first
    out[10] = first[0] + 10 * second[1]


def test_tuples_in_tuples():
    x, out = np.arange(12.0).reshape(3, 4), np.zeros(11)
    in_tuples[1, 1](x, out)
    np.testing.assert_array_equal(out, [9, 3221, 321 + 654, 26, 0 + 10 + 100, 7, 3, 912, 1, 82, 23])
    cubin(in_tuples.inspect_source(x, out))


# ---------------------------------------------------------------- results


@cuda.jit(device=True)
def extremes(row):
    least = row[0]
    most = least
    for j in range(len(row)):
        least = min(least, row[j])
        most = max(most, row[j])
    row[0] = -1  # once, whatever the results are used for
    return least, most


@cuda.jit(device=True)
def roots(a, b, c=0.0):
    """The roots of a x² + b x + c; NaN if there are none."""
    if a == 0:
        return -c / b, -c / b
    d = b * b - 4 * a * c
    if d < 0:
        return math.nan, math.nan
    d = math.sqrt(d)
    return (-b - d) / (2 * a), (-b + d) / (2 * a)


@cuda.jit(device=True)
def swapped(pair):
    return pair[1], pair[0]


@cuda.jit(device=True)
def both(row, a):
    return swapped(extremes(row))


@cuda.jit
def results(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        least, most = extremes(x[i])
        out[i, 0], out[i, 1] = least, most
        pair = roots(1.0, -3.0, c=2.0)
        out[i, 2] = pair[0] + 10 * pair[1]
        out[i, 3], out[i, 4] = roots(0.0, 2.0, 4.0)
        out[i, 5] = roots(1.0, 0.0, 1.0)[0]
        out[i, 6] = roots(1.0, 1.0)[-1] if i > 0 else roots(1.0, 1.0)[0]
        a, b = swapped(swapped((i, 7)))
        out[i, 7], out[i, 8] = a, b
        c, _ = both(x[i, 1:], 3)
        out[i, 9] = c
        extremes(x[i, 2:])


def test_tuples_as_results():
    x, out = rng.random((3, 5)), np.zeros((3, 10))
    want = np.zeros((3, 10))
    want[:, 0], want[:, 1], want[:, 2], want[:, 3:5] = x.min(1), x.max(1), 21, -2
    want[:, 5], want[:, 6], want[:, 7], want[:, 8], want[:, 9] = np.nan, [-1, 0, 0], range(3), 7, x[:, 1:].max(1)
    rest = x[:, 3:].copy()
    results[1, 32](x, out)
    np.testing.assert_allclose(out, want)
    np.testing.assert_array_equal(x[:, :3], -1)
    np.testing.assert_array_equal(x[:, 3:], rest)
    cubin(results.inspect_source(x, out))


@cuda.jit(device=True)
def found(x, wanted):
    if wanted > 90:
        wanted += 1
        if wanted > 96:
            return -2, -2
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] == wanted:
                return i, j
        if i == 5:
            break
    k = 0
    while True:
        k += 1
        if k > 3:
            return -1, k
    return 0, 0


@cuda.jit
def searched(x, wanted, out):
    t = cuda.grid(1)
    for k in range(1):
        out[t, 0], out[t, 1] = found(x, wanted[t])
        out[t, 2] = found(x, wanted[t])[0] + k


def test_results_from_inside_of_loops():
    x = np.arange(12.0).reshape(3, 4)
    wanted = np.array([0, 5, 11, 50, 92, 96, 2])
    out = np.zeros((7, 3), np.int64)
    searched[1, 7](x, wanted, out)
    want = [(0, 0), (1, 1), (2, 3), (-1, 4), (-1, 4), (-2, -2), (0, 2)]
    np.testing.assert_array_equal(out, [(i, j, i) for i, j in want])
    cubin(searched.inspect_source(x, wanted, out))


GAIN = np.float32(3)
TABLE = np.arange(4.0)


@cuda.jit(device=True)
def of_globals(i):
    total = TABLE[i] * GAIN
    return total, i


@cuda.jit
def captures(x, total):
    value, i = of_globals(2)
    x[0], x[1], x[2] = value, i, total
    i, value = of_globals(3)
    x[3] = i


def test_functions_that_return_tuples_have_globals_and_variables_of_their_own():
    x = np.zeros(4)
    captures[1, 1](x, 99)
    np.testing.assert_array_equal(x, [6, 2, 99, 9])


# ---------------------------------------------------------------- refusals


@cuda.jit(device=True)
def endless(n):
    a, b = endless(n - 1)
    return b, a


@cuda.jit(device=True)
def sometimes(n):
    if n > 0:
        return n, n


@cuda.jit
def takes_what_some_paths_return(x):
    a, b = sometimes(3)
    x[0] = a + b


def test_a_function_may_return_a_tuple_on_the_paths_that_run():
    x = np.arange(4.0)
    takes_what_some_paths_return[1, 1](x)
    assert x[0] == 6


@cuda.jit(device=True)
def two_or_three(n):
    if n > 0:
        return n, n
    return n, n, n


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("pos = (1, 2)\nx[0] = pos", "the tuple 'pos' is used as a number"),
        ("pos = (1, 2)\nx[0] = pos[2]", "the tuple 'pos' has no element 2"),
        (
            "pos = ((1, 2), 3)\nx[0] = pos[int(x[1])]",
            "the subscript of a tuple whose elements have different kinds",
        ),
        ("pos = ((1, 2), 3)\nx[0] = pos[0]", "the tuple 'pos[0]' is used as a number"),
        ("pos = ((1, 2), 3)\nx[0] = pos[0][2]", "the tuple 'pos[0]' has no element 2"),
        (
            "pos = ((1, 2), 3)\nif x[0] > 0:\n    pos = (1, (2, 3))\nx[0] = pos[0]",
            "'pos[0]' is a tuple, a number or None",
        ),
        ("if (1, (2, 3)) < (2, 3):\n    x[0] = 1", "tuples can be ordered only if all of their elements are numbers"),
        ("x[0] = x.shape", "a tuple of 1 element is used as a number"),
        ("pos = (1, 2)\npos[0] = 3", "'pos' is a tuple, which cannot be changed"),
        ("pos = (1, 2)\nif x[0] > 0:\n    pos = (1, 2, 3)\nx[0] = pos[0]", "'pos' is a tuple, a number or None"),
        ("pos = 3\nif x[0] > 0:\n    pos = (1, 2)\nx[0] = pos", "'pos' is a tuple, a number or None"),
        ("a, b, c = extremes(x)", "2 values cannot be assigned to 3 targets"),
        ("x[0] = extremes(x) + 1", "a tuple of 2 elements is used as a number"),
        ("a, b = endless(3)", "'endless' returns a tuple of 2 elements and calls itself"),
        (
            "a, b, c = two_or_three(3)",
            "'two_or_three' returns a tuple of 2 elements elsewhere",
        ),
        ("a, b = extremes(x, 3)", "'extremes' takes 1 argument, not 2"),
        ("x[0] = at(x)", "'at' gets no value for its parameter 'pos'"),
    ],
)
def test_what_tuples_are_not(body, message):
    import linecache

    lines = "".join(f"    {line}\n" for line in body.splitlines())
    text, name = f"@cuda.jit\ndef kernel(x):\n{lines}", f"<tuple {abs(hash(body))}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names = dict(globals())
    exec(compile(text, name, "exec"), names)
    with pytest.raises(parpy.CompileError) as caught:
        names["kernel"][1, 1](np.arange(4.0))
    assert message in str(caught.value)
    assert str(caught.value).count(message) == 1


@cuda.jit(device=True)
def twofold(v):
    return v * 2


@cuda.jit
def with_other_names(x):
    double = twofold
    shared = cuda.shared
    shape = x.shape
    barrier = cuda.syncthreads
    add = cuda.atomic.add
    power = math.pow
    local = shared.array(32, "f8")
    t = cuda.threadIdx.x
    local[t] = double(t)
    barrier()
    add(x, 0, local[31 - t] * power(2, 1))
    if t < shape[0] and t > 0:
        x[t] = shape[0]


def test_local_names_for_functions_and_modules(backend):
    x = np.zeros(3)
    with_other_names[1, 32](x)
    assert x.tolist() == [sum(4 * t for t in range(32)), 3, 3]


@cuda.jit(device=True)
def ignores(x, i, nothing=None):
    return i, i + 1


def test_functions_that_return_tuples_may_ignore_arrays():
    @cuda.jit
    def kernel(x, out):
        a, b = ignores(x, 3)
        c, d = ignores(x[1:], 5, x)
        out[0] = a + 10 * b + 100 * c + 1000 * d

    out = np.zeros(1)
    kernel[1, 1](np.zeros(3), out)
    assert out[0] == 6543
