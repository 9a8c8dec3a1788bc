"""Names of parts of arrays in kernels: rows and slices, also as arguments of device functions; parts of the memory that
blocks share."""

from __future__ import annotations

import numpy as np
import pytest

import kernel_places
import parpy
from nvrtc import cubin
from parpy import cuda

backend = kernel_places.backend
rng = np.random.default_rng(17)


def grid_of(rows, columns):
    return np.arange(float(rows * columns)).reshape(rows, columns).copy()


# ---------------------------------------------------------------- rows


@cuda.jit
def rows(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        row = x[i]
        i = -1  # the view stays what it was
        total = 0.0
        for j in range(len(row)):
            total += row[j]
        row[0], row[-1] = total, row.shape[0]
        n = row.size + 10 * row.ndim
        out[cuda.grid(1)] = n if row.dtype == out.dtype else -1


def test_a_row_is_a_view():
    x, out = grid_of(3, 4), np.zeros(3)
    want = x.copy()
    want[:, 0], want[:, -1] = x.sum(1), 4
    rows[1, 32](x, out)
    np.testing.assert_array_equal(x, want)
    np.testing.assert_array_equal(out, [14] * 3)
    fortran = np.asfortranarray(grid_of(3, 4))
    rows[1, 32](fortran, out)
    np.testing.assert_array_equal(fortran, want)
    cubin(rows.inspect_source(x, out))


@cuda.jit
def planes(x, out):
    plane = x[1]
    n, m = plane.shape
    line = plane[-1]
    column = x[1, :, 2]
    corner, edge = x[-1, -1], x[0:2, 0, 0]
    same = line
    for j in range(m):
        out[j] = plane[0, j] + line[j]
    for j in range(n):
        out[m + j] = column[j]
    out[-1] = corner[0] + edge[1] + len(edge)
    same[0] = plane.ndim + 10 * line.ndim + 100 * plane.shape[-1]
    line[1:] += 1000
    x[0][1][2:] = line[2:] * 2
    cuda.atomic.add(line, 1, 5)
    cuda.atomic.add(x[1, 0], (1,), 7)
    cuda.atomic.compare_and_swap(column, 6.0, -6.0)


def test_views_of_views_and_what_is_done_with_them():
    x = np.arange(24.0).reshape(2, 3, 4)
    out, want = np.zeros(8), x.copy()
    row = np.concatenate([x[1, 0] + x[1, 2], x[1, :, 2], [x[-1, -1, 0] + x[1, 0, 0] + 2]])
    planes[1, 1](x, out)
    want[1, 2, 0] = 412
    want[1, 2, 1:] += 1000
    want[0, 1, 2:] = want[1, 2, 2:] * 2
    want[1, 2, 1] += 5
    want[1, 0, 1] += 7
    np.testing.assert_array_equal(out, row)
    np.testing.assert_array_equal(x, want)


@cuda.jit
def chosen(x, k):
    for i in range(2):
        row = x[i]
        row[i] = -1
    last = x[2]
    if k > 0:
        last = x[k]
    last[0] = -2


def test_a_name_may_stand_for_other_rows_of_the_array():
    for k, place in ((0, 2), (1, 1)):
        x, want = grid_of(3, 3), grid_of(3, 3)
        chosen[1, 1](x, k)
        want[0, 0] = want[1, 1] = -1
        want[place, 0] = -2
        np.testing.assert_array_equal(x, want)


@cuda.jit
def renamed(x, y):
    row = x[1]
    row[0] = 1
    row = row[1:]
    row[0] = 2
    row = row[::2]
    row[1] = 3
    row = y[:, 1]
    row[0] = 4
    x = x[2:]
    x[0, 0] = len(x) + sum_of_rest(x[0])


@cuda.jit(device=True)
def sum_of_rest(row):
    row = row[1:]
    return row[0] + row[1]


def test_a_name_may_stand_for_another_view_from_some_line_on():
    x, y = grid_of(3, 4), grid_of(3, 4)
    want, want_y = x.copy(), y.copy()
    want[1, 0], want[1, 1], want[1, 3] = 1, 2, 3
    want_y[0, 1] = 4
    want[2, 0] = 1 + 9 + 10
    renamed[1, 1](x, y)
    np.testing.assert_array_equal(x, want)
    np.testing.assert_array_equal(y, want_y)


@cuda.jit
def either(x, k):
    row = x[0] if k > 0 else x[1]
    row[0] = -1
    other = row if k < 0 else x[2]
    other[1] = -2
    part = x[2, k + 2 :] if k == 0 else x[2, 1:3]
    part[0], part[-1] = len(part), -3


@pytest.mark.parametrize("k", [-1, 0, 1])
def test_views_are_chosen(k):
    x, want = grid_of(3, 4), grid_of(3, 4)
    either[1, 1](x, k)
    row = want[0] if k > 0 else want[1]
    row[0] = -1
    other = row if k < 0 else want[2]
    other[1] = -2
    part = want[2, k + 2 :] if k == 0 else want[2, 1:3]
    part[0], part[-1] = len(part), -3
    np.testing.assert_array_equal(x, want)


# ---------------------------------------------------------------- slices


@cuda.jit
def slices(x, low, high, out):
    part = x[low:high]
    out[0] = len(part)
    for j in range(len(part)):
        part[j] += 100
    if len(part) > 1:
        part[-1] = -5
        k = -2
        part[k] = -6
    behind = part[1:]
    if len(behind) > 0:
        behind[0] = 7
    every = x[1::3]
    out[1] = every.shape[0]
    every[1] = 55
    inner = every[:-1][1:]
    inner[:] = 66
    x[6:][1:][0] = 77
    out[2] = inner.size


def slices_in_numpy(x, low, high, out):
    part = x[low:high]
    out[0] = len(part)
    part += 100
    if len(part) > 1:
        part[-1] = -5
        part[-2] = -6
    behind = part[1:]
    if len(behind) > 0:
        behind[0] = 7
    every = x[1::3]
    out[1] = len(every)
    every[1] = 55
    inner = every[:-1][1:]
    inner[:] = 66
    x[6:][1:][0] = 77
    out[2] = inner.size


@pytest.mark.parametrize("low", [-100, -4, 0, 2, 9, 40])
@pytest.mark.parametrize("high", [-100, -1, 0, 3, 9, 100])
def test_slices_are_numpys(low, high):
    x, out = np.arange(10.0), np.zeros(3)
    want, want_out = x.copy(), out.copy()
    slices[1, 1](x, low, high, out)
    slices_in_numpy(want, low, high, want_out)
    np.testing.assert_array_equal(x, want)
    np.testing.assert_array_equal(out, want_out)


@cuda.jit
def narrow_integers(x, i, out):
    part = x[i[0] : i[1]]
    far = x[600:]
    rest = far[i[0] :]
    third = x[0:900:3]
    out[0], out[1], out[2], out[3] = len(part), part[i[2]], far[i[3]], rest[i[2]]
    out[4], out[5], out[6] = len(rest), third[i[1]], far[i[2] :][0]
    if i[4] < 0:
        out[7] = far[i[4]]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64])
def test_subscripts_of_any_integer_type_have_room(dtype):
    x, out = np.arange(1000.0), np.zeros(8)
    i = np.array([20, 120, 90, 127, -3 if np.issubdtype(dtype, np.signedinteger) else 3]).astype(dtype)
    narrow_integers[1, 1](x, i, out)
    last = 997 if i[4] > 100 or i[4] < 0 else 0
    np.testing.assert_array_equal(out, [100, 110, 727, 710, 380, 360, 690, last])


@cuda.jit(debug=True)
def beyond(x, j):
    part = x[1:3]
    part[j] = 1


@pytest.mark.parametrize("j", [2, -3])
def test_checked_kernels_know_the_ends_of_slices(j):
    with pytest.raises(IndexError, match=f"subscript {j} is out of bounds for axis 0 of 'part', whose size is 2"):
        beyond[1, 1](np.zeros(8), j)
        cuda.synchronize()


# ---------------------------------------------------------------- arguments


@cuda.jit(device=True)
def dot(a, b):
    total = 0.0
    for j in range(a.shape[0]):
        total += a[j] * b[j]
    return total


@cuda.jit(device=True)
def dot_of(b, a):
    return dot(b=b, a=a)


@cuda.jit
def product(a, b, c):
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        row = a[i]
        c[i, j] = dot(row, b[:, j]) + dot_of(a[i, :], b[0 : b.shape[0], j])


def test_views_as_arguments():
    a, b, c = rng.random((5, 7)), rng.random((7, 4)), np.zeros((5, 4))
    product[1, (8, 8)](a, b, c)
    np.testing.assert_allclose(c, 2 * (a @ b))
    cubin(product.inspect_source(a, b, c))


@cuda.jit(device=True)
def twice(v):
    return v + v


@cuda.jit
def elements(x):
    x[0] = twice(x[1])
    cuda.atomic.add(x, 2, twice(x[1:][0]))


def test_elements_stay_numbers():
    x = np.arange(1.0, 5.0)
    elements[1, 1](x)
    np.testing.assert_array_equal(x, [4, 2, 7, 4])


@cuda.jit(device=True)
def sort(a):
    if len(a) > 1:
        p = 0
        for j in range(1, len(a)):
            if a[j] < a[0]:
                p += 1
                a[p], a[j] = a[j], a[p]
        a[p], a[0] = a[0], a[p]
        sort(a[:p])
        sort(a[p + 1 :])


@cuda.jit
def sorted_rows(x):
    sort(x[cuda.grid(1), :])


def test_functions_of_views_recurse():
    x = rng.random((4, 20))
    want = np.sort(x, 1)
    sorted_rows[1, 4](x)
    np.testing.assert_array_equal(x, want)


TABLE = np.arange(6, dtype=np.float32).reshape(2, 3)


@cuda.jit
def of_other_arrays(x, out):
    tile = cuda.shared.array((4, 8), np.float32)
    own = cuda.local.array((2, 3), np.float32)
    t = cuda.threadIdx.x
    row = tile[t]
    for j in range(8):
        row[j] = x[t, j]
    cuda.syncthreads()
    mirrored = tile[3 - t]
    mine = own[1]
    mine[:] = t
    out[t] = dot(row, mirrored) + mine[2] + dot(TABLE[1], mine)


@pytest.mark.parametrize("seed", [0, 3])
def test_views_of_other_arrays(seed):
    cuda.sim.seed = seed
    x, out = rng.random((4, 8)).astype(np.float32), np.zeros(4, np.float32)
    of_other_arrays[1, 4](x, out)
    np.testing.assert_allclose(out, (x * x[::-1]).sum(1) + np.arange(4) * 13, rtol=1e-5)


# ---------------------------------------------------------------- shared memory of the launch


@cuda.jit
def three_arrays(out, n):
    f = cuda.shared.array(0, np.float32)
    g = cuda.shared.array(0, np.int32)[n:]
    h = cuda.shared.array(shape=0, dtype=np.float64)[n : 2 * n]
    t = cuda.threadIdx.x
    if t < n:
        f[t], g[t], h[t] = t + 0.5, -t, t / 4
    cuda.syncthreads()
    if t < n:
        out[0, t], out[1, t], out[2, t] = f[n - 1 - t], g[n - 1 - t], h[-1 - t]
    out[3, 0], out[3, 1], out[3, 2] = len(f), len(g), len(h)


@pytest.mark.parametrize("seed", [0, 5])
def test_several_arrays_in_the_shared_memory_of_the_launch(seed):
    cuda.sim.seed = seed
    n, out = 8, np.zeros((4, 8))
    three_arrays[1, 32, 0, 16 * n](out, n)
    back = np.arange(n)[::-1]
    np.testing.assert_array_equal(out[:3], [back + 0.5, -back, back / 4])
    np.testing.assert_array_equal(out[3, :3], [32, 24, 8])
    cubin(three_arrays.inspect_source(out, n))


@cuda.jit
def part_of_a_tile(x):
    tile = cuda.shared.array(8, np.float64)[2:6]
    copied = cuda.const.array_like(TABLE)[1, 1:]
    t = cuda.threadIdx.x
    if t < len(tile):
        tile[t] = t
    cuda.syncthreads()
    x[t] = tile[3 - t] + copied[1] + len(tile) + len(copied)


def test_parts_of_new_arrays():
    x = np.zeros(4)
    part_of_a_tile[1, 4](x)
    np.testing.assert_array_equal(x, [14, 13, 12, 11])


# ---------------------------------------------------------------- refusals


def refused(body):
    names = {}
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    text = f"@cuda.jit\ndef kernel(x, y):\n{lines}"
    name = f"<view {abs(hash(body))}>"
    import linecache

    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), {"cuda": cuda, "np": np}, names)
    with pytest.raises(parpy.CompileError) as caught:
        names["kernel"][1, 1](grid_of(3, 4), grid_of(3, 4))
    return str(caught.value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("row = x[0]\nrow[0] = row", "array 'row' is used as a number"),
        ("row = x[0]\nx[0, 0] = 2 * row", "give it subscripts: row[i]"),
        ("row = x[0]\nif y[0, 0] > 1:\n    row = 3\nrow[0] = 1", "'row' is an int here, and a float64 array of 1 dim"),
        ("row = 3\nif y[0, 0] > 1:\n    row = x[0]\nrow[0] = 1", "'row' is a float64 array of 1 dimension here, and"),
        ("row = x[0]\nif y[0, 0] > 1:\n    row = y[0]\nrow[0] = 1", "the name 'row' refers to several arrays"),
        ("row = x[0] if y[0, 0] > 1 else y[0]\nrow[0] = 1", "the name 'row' refers to several arrays"),
        ("row = x[0]\nif y[0, 0] > 1:\n    row = x[:, 0]\nrow[0] = 1", "choose among subscripts: x[i if c else j]"),
        ("row = x[0]\nif y[0, 0] > 1:\n    row = x[:, 0]\nrow[0] = 1", "'row' refers to parts of different forms"),
        ("if y[0, 0] > 1:\n    t = x.T\nelse:\n    t = x.reshape(4, 3)\nt[0, 0] = 1", "transposed or reshaped part"),
        ("part = x[0:1.5]\npart[0, 0] = 1", "a subscript of 'x' is a float, not an integer"),
        ("part = x[0:2]\npart[0.5, 0] = 1", "a subscript of 'part' is a float, not an integer"),
        ("part = x[:, 1]\npart[0] = part.shape[-2]", "'part' has 1 dimension, so there is no axis -2"),
        ("row = x[0]\nrow[0, 1] = 1", "'row' has 1 dimension, but 2 subscripts"),
        ("x[0, 0] = len(x[1, 1])", "'x[1, 1]' is a float64 and has no shape"),
        ("row[0] = 1\nrow = x[0]", "used before it is assigned"),
        ("a = cuda.local.array(3, np.int32)[1:]\na = cuda.local.array(3, np.int32)", "'a' is already something else"),
    ],
)
def test_what_views_are_not(body, message):
    assert message in refused(body)


@cuda.jit
def nowhere(x):
    if x[0, 0] > 5:
        row = x[1]
    row[1] = 5


def test_views_that_no_path_made():
    with pytest.raises(UnboundLocalError, match="'row' is read before it has a value"):
        nowhere[1, 1](grid_of(3, 4))
        cuda.synchronize()


@parpy.jit
def loops(x):
    for i in range(3):
        row = x[i]
        row[0] = 1


def test_views_of_loops():
    x = np.zeros((3, 4))
    loops(x)
    assert x[:, 0].tolist() == [1, 1, 1] and not x[:, 1:].any()


@cuda.jit
def store_in_part(x, k):
    part = x[2:5]
    part[k] = 9


@cuda.jit
def store_in_steps(x, k):
    steps = x[1:8:2][1:]
    steps[k] = 9


@pytest.mark.parametrize("kernel", [store_in_part, store_in_steps])
@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("k", [-1, -3, 0, 2, 3, -4, -6, 2**62, -(2**62)])
def test_subscripts_of_slices(kernel, debug, k):
    if not cuda.sim.enabled and not debug and not -3 <= k < 3:
        pytest.skip("nothing is checked")
    x, want = np.arange(10), np.arange(10)
    checked = cuda.jit(debug=debug)(kernel.py_func)
    if -3 <= k < 3:
        (want[2:5] if kernel is store_in_part else want[1:8:2][1:])[k] = 9
        checked[1, 1](x, k)
    else:
        name = "part" if kernel is store_in_part else "steps"
        with pytest.raises(
            IndexError, match=rf"subscript {k} is out of bounds for axis 0 of '{name}', whose size is 3"
        ):
            checked[1, 1](x, k)
    np.testing.assert_array_equal(x, want)


@cuda.jit(debug=True)
def at_unsigned(x, k):
    x[k[0]] = 9


@cuda.jit(debug=True)
def at_difference(x, k):
    x[k[0] - np.uint64(2**63)] = 9


@cuda.jit(debug=True)
def in_part(x, k):
    part = x[1:]
    part[k[0]] = 9


@pytest.mark.parametrize("kernel", [at_unsigned, at_difference, in_part])
@pytest.mark.parametrize("k", [2**64 - 1, 2**64 - 2, 2**63 - 1])
def test_unsigned_subscripts_do_not_count_from_the_end(kernel, k):
    x = np.zeros(5)
    with pytest.raises(IndexError, match="out of bounds") as caught:
        kernel[1, 1](x, np.array([k], np.uint64))
        cuda.synchronize()
    written = (k - 2**63) % 2**64 if kernel is at_difference else k
    assert f"subscript {written} is" in str(caught.value)
    assert not x.any()


# ---------------------------------------------------------------- annotations

N, M, E = parpy.types.symbol("N"), parpy.types.symbol("M"), parpy.types.type_var("E")


@cuda.jit(device=True)
def extents(r: parpy.types.buffer(E, [N, M]), out):
    r = r[1:]
    out[0], out[1], out[2] = N, M, len(r)
    out[3] = parpy.builtin.convert(2.5, E)


@cuda.jit(device=True)
def narrowed(r: parpy.types.buffer(E, [N]), out):
    if out[0] == 0:
        r = r[1:]
    out[0], out[1] = N, len(r)


@cuda.jit(device=True)
def extent_and_one(r: parpy.types.buffer(E, [N])):
    return N, parpy.builtin.convert(1.5, E)


@cuda.jit
def asks_for_extents(x, out):
    extents(x[2], out[0])
    extents(x[1, 1:4, ::2], out[1])
    extents(x[:, 0], out[2])
    narrowed(x[0, 0, 1:4], out[4])
    out[3, 0], out[3, 1] = extent_and_one(x[0, 1:4, 1])
    out[3, 2], out[3, 3] = extent_and_one(x[0, 0])


@pytest.mark.parametrize(("dtype", "number"), [(np.float64, 0.5), (np.int64, 0)])
def test_symbols_are_the_extents_of_views(dtype, number):
    x, out = np.zeros((3, 4, 5), dtype), np.zeros((5, 4))
    asks_for_extents[1, 1](x, out)
    one = number + 1
    want = [[4, 5, 3, one + 1], [3, 3, 2, one + 1], [3, 5, 2, one + 1], [3, one, 5, one], [3, 2, 0, 0]]
    np.testing.assert_array_equal(out, want)
