"""Records in records under a name, parts of arrays of records, and copies of whole records."""

from __future__ import annotations

import numpy as np
import pytest

import kernel_places
from nvrtc import cubin
from parpy import CompileError, cuda
from test_kernel_records import BODY, PARTICLE, POINT, bodies, particles, results

backend = kernel_places.backend


@cuda.jit(device=True)
def doubled(p):
    p.x *= 2
    return p.x + p.y


@cuda.jit
def of_records(r, out):
    i = 1
    p = r[i].pos
    i = 3  # the record stays what it was
    p.x = 30
    p.y = p.x + 1
    ends = r[2].ends
    ends[1].x = 40
    first = ends[0]
    first.y = 50
    body = r[0]
    inner = body.pos
    inner.x += 1
    body.ends[1].y = 60
    out[0] = doubled(r[3].pos) + doubled(p) + doubled(r[i].ends[1])
    out[1] = len(ends) + 100 * ends.shape[0]


def test_records_in_records_have_names():
    given, out = bodies(5), np.zeros(2)
    want = given.copy()
    want["pos"]["x"][1], want["pos"]["y"][1] = 60, 31
    want["ends"]["x"][2, 1], want["ends"]["y"][2, 0] = 40, 50
    want["pos"]["x"][0] += 1
    want["ends"]["y"][0, 1] = 60
    want["pos"]["x"][3] *= 2
    want["ends"]["x"][3, 1] *= 2
    np.testing.assert_array_equal(results(of_records, 1, given, out), want)
    cubin(of_records.inspect_source(given, out))


@cuda.jit(device=True)
def numbered(q, first):
    for i in range(len(q)):
        q[i].id = first + i
    return q.size


@cuda.jit
def of_parts(r, out):
    q = r[1:]
    q[0].pos.x = 7
    w = q[1:3]
    w[1].pos.y = 8
    last = q[-1]
    last.v[1] = 9
    out[0], out[1], out[2] = len(q), w.shape[0], numbered(r[::2], 100)
    out[3] = numbered(w, 200)
    i = 1
    z = r[i : i + 2]
    i = 4
    z[0].ends[1].x = 10


def test_parts_of_records():
    given, out = bodies(6), np.zeros(4)
    want = given.copy()
    want["pos"]["x"][1], want["pos"]["y"][3], want["v"][5, 1], want["ends"]["x"][1, 1] = 7, 8, 9, 10
    want["id"][::2] = 100, 101, 102
    want["id"][2:4] = 200, 201
    np.testing.assert_array_equal(results(of_parts, 1, given, out), want)
    np.testing.assert_array_equal(out, [5, 2, 3, 2])
    cubin(of_parts.inspect_source(given, out))


@cuda.jit
def of_parts_of_parts(r, c, out):
    out[0] = len(r[1:4][1:])
    q = r[1:5][1:][1]
    q.id = 70
    p = r[0].pos if c else r[4].pos
    p.x = 50
    z = r[1:][:2]
    z[1].v[2] = 60


@pytest.mark.parametrize("c", [0, 1])
def test_parts_of_parts_and_records_that_are_chosen(c):
    given, out = bodies(6), np.zeros(1)
    want = given.copy()
    want["id"][3], want["pos"]["x"][0 if c else 4], want["v"][2, 2] = 70, 50, 60
    np.testing.assert_array_equal(results(of_parts_of_parts, 1, given, c, out), want)
    assert out[0] == 2
    cubin(of_parts_of_parts.inspect_source(given, c, out))


@cuda.jit
def beyond(r, k):
    q = r[1:3]
    q[k].id = 1


def test_subscripts_beyond_a_part_are_found(backend):
    if backend == "cuda":
        pytest.skip("subscripts are checked on the simulator, and with debug=True")
    with pytest.raises(IndexError, match=r"out of bounds for axis 0 of 'q\.id', whose size is 2"):
        beyond[1, 1](bodies(6), 2)


@cuda.jit
def of_planes(r, out):
    row, part = r[1], r[:, 1:]
    part[1, 0].id = 88
    part[0, 1].v[2] = 99
    n, m = r.shape
    shape = r.shape
    out[0], out[1], out[2], out[3] = r.ndim, r.size, row.ndim, row.size
    out[4], out[5], out[6], out[7] = n, m, shape[1], len(part[0])


def test_planes_of_records():
    given, out = bodies(6).reshape(2, 3), np.zeros(8)
    want = given.copy()
    want["id"][1, 1], want["v"][0, 2, 2] = 88, 99
    np.testing.assert_array_equal(results(of_planes, 1, given, out), want)
    np.testing.assert_array_equal(out, [2, 6, 1, 3, 2, 3, 3, 2])
    cubin(of_planes.inspect_source(given, out))


@cuda.jit
def of_arrays_in_records(r, out):
    r[0].v[0] = 1
    out[0], out[1], out[2] = r.size, r.ndim, len(r)


def test_the_size_of_records_is_not_that_of_an_array_in_them():
    out = np.zeros(3)
    of_arrays_in_records[1, 1](bodies(4), out)
    np.testing.assert_array_equal(out, [4, 1, 4])


# ---------------------------------------------------------------- copies


@cuda.jit
def permuted(r, s, k):
    i = cuda.grid(1)
    if i < len(k):
        r[i] = s[k[i]]


@pytest.mark.parametrize("make", [particles, bodies])
def test_records_are_copied(make):
    source, k = make(50), np.random.default_rng(3).permutation(50)
    for place in (np.asarray, cuda.to_device):
        r, s = place(np.zeros(50, source.dtype)), place(source)
        for _ in range(2):  # a launcher made before, and one made since
            permuted[2, 32](r, s, k)
        np.testing.assert_array_equal(r if place is np.asarray else r.copy_to_host(), source[k])
    numbers, out = np.arange(50.0), np.zeros(50)
    permuted.forall(50)(out, numbers, k)
    np.testing.assert_array_equal(out, numbers[k])
    cubin(permuted.inspect_source(source.copy(), source, k))


@cuda.jit
def copied(r, s):
    r[1] = s[2]
    r[1].id = 5
    p = s[0]
    r[2] = p
    r[3].pos = s[3].pos
    r[3].ends[0] = r[3].pos
    r[3].ends[1] = r[3].ends[0]
    r[0] = r[0]


def test_records_in_records_are_copied():
    given, source = bodies(5), bodies(5)[::-1].copy()
    want = given.copy()
    want[1] = source[2]
    want["id"][1] = 5
    want[2] = source[0]
    want["pos"][3] = source["pos"][3]
    want["ends"][3] = source["pos"][3]
    np.testing.assert_array_equal(results(copied, 1, given, source), want)
    cubin(copied.inspect_source(given, source))


@cuda.jit(device=True)
def put(to, i, of, j):
    to[i] = of[j]


@cuda.jit(device=True)
def moved(p, q):
    p.pos = q.pos
    p.ends[0] = q.pos
    return p.pos.x, q.id


@cuda.jit
def by_functions(r, out):
    put(r, 0, r, 4)
    put(r[1:], 0, r, 3)
    out[0], out[1] = moved(r[2], r[4])


@cuda.jit
def reversed_in_blocks(r):
    t = cuda.threadIdx.x
    shared = cuda.shared.array(8, BODY)
    own = cuda.local.array((2, 2), POINT)
    shared[t] = r[t]
    cuda.syncthreads()
    r[t] = shared[7 - t]
    own[0, 1] = r[t].pos
    row = own[0]
    own[1, 0] = row[1]
    r[t].ends[1] = own[1, 0]


@cuda.jit
def of_one(r, p):
    r[1] = p
    r[0].mass = p.mass


def test_copies_in_functions_of_own_arrays_and_of_records_by_value():
    given, out = bodies(5), np.zeros(2)
    want = given.copy()
    want[0], want[1] = given[4], given[3]
    want["pos"][2] = want["ends"][2, 0] = given["pos"][4]
    np.testing.assert_array_equal(results(by_functions, 1, given, out), want)
    np.testing.assert_array_equal(out, [want["pos"]["x"][4], 4])
    cubin(by_functions.inspect_source(given, out))
    given = bodies(8)
    want = given[::-1].copy()
    want["ends"][:, 1] = want["pos"]
    np.testing.assert_array_equal(results(reversed_in_blocks, 8, given), want)
    cubin(reversed_in_blocks.inspect_source(given))
    given, one = np.zeros(2, PARTICLE), particles(1)[0]
    of_one[1, 1](given, one)
    assert given[1] == one and given["mass"][0] == one["mass"]


@cuda.jit
def of_other_types(r, s):
    r[0] = s[0]


def test_records_of_other_types_are_not_copied():
    with pytest.raises(Exception, match=r"records of the type .* would have to become records of the type"):
        of_other_types[1, 1](bodies(2), particles(2))


# ---------------------------------------------------------------- several at once


@cuda.jit
def exchanged(r, s):
    i = cuda.grid(1)
    if i < len(r) // 2:
        j = len(r) - 1 - i
        r[i], r[j] = r[j], r[i]
        p, q = s[i], s[j]
        s[j], s[i] = p, q


@cuda.jit
def turned(r, k):
    for i in range(2):
        r[i].ends[0], (k[i], r[i].pos), r[i].ends[1] = r[i].pos, (r[i].id + 1, r[i].ends[1]), r[i].ends[0]


@cuda.jit
def in_a_row(r, s, k):
    r[0] = s[0] = r[k[0]]
    k[0], r[1], s[2].mass = 2, s[k[0]], r[1].mass + s[1].mass


@cuda.jit(device=True)
def swap(a, i, b, j):
    a[i], b[j] = b[j], a[i]


@cuda.jit
def by_a_function(r, s):
    t = cuda.threadIdx.x
    shared = cuda.shared.array(4, BODY)
    shared[t] = s[t]
    cuda.syncthreads()
    swap(r, t, shared, 3 - t)
    cuda.syncthreads()
    s[t] = shared[t]


def test_records_are_exchanged():
    for make in (particles, bodies):
        given, other = make(41), make(41)[::-1].copy()
        want = given[::-1].copy()
        np.testing.assert_array_equal(results(exchanged, 20, given, other), want)
        np.testing.assert_array_equal(results(exchanged, 20, other, given), other[::-1])
        cubin(exchanged.inspect_source(given, other))
    given, k = bodies(3), np.zeros(2, np.int64)
    want = given.copy()
    want["ends"][:2, 0], want["pos"][:2], want["ends"][:2, 1] = (
        given["pos"][:2],
        given["ends"][:2, 1],
        given["ends"][:2, 0],
    )
    np.testing.assert_array_equal(results(turned, 1, given, k), want)
    np.testing.assert_array_equal(k, given["id"][:2] + 1)
    given, other = bodies(4), bodies(8)[4:].copy()
    want, swapped = other[::-1].copy(), given[::-1].copy()
    by_a_function[1, 4](given, other)
    np.testing.assert_array_equal(given, want)
    np.testing.assert_array_equal(other, swapped)
    cubin(by_a_function.inspect_source(given, other))


def test_records_get_values_in_a_row():
    r, s, k = particles(3), particles(6)[3:].copy(), np.array([1])
    want, other = r.copy(), s.copy()
    want[0] = other[0] = r[1]
    want[1], other["mass"][2] = other[1], r["mass"][1] + s["mass"][1]
    in_a_row[1, 1](r, s, k)
    np.testing.assert_array_equal(r, want)
    np.testing.assert_array_equal(s, other)
    assert k[0] == 2
    cubin(in_a_row.inspect_source(r, s, k))


@cuda.jit
def added(r, s):
    r[0] += r[1]


@cuda.jit
def compared(r, s):
    s[0].id = r[0] == r[1]


@cuda.jit
def decides(r, s):
    if r[s[0].id]:
        s[0].id = 1


@pytest.mark.parametrize("kernel", [added, compared, decides])
def test_records_are_no_numbers(kernel):
    with pytest.raises(TypeError, match=r"the records '\w' are used as numbers[^$]*help: take a field, \w\[0\]\.x"):
        kernel[1, 1](bodies(2), bodies(2))


@cuda.jit
def number_to_record(r, s):
    r[0], s[0].id = s[0].id, 1


@cuda.jit
def named_with_others(r, s):
    p, s[0] = r[0], s[1]
    p.id = 3


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (number_to_record, "records and other values are assigned to each other"),
        (named_with_others, "help: write one assignment for each target"),
    ],
)
def test_what_assignments_of_several_records_are_not(kernel, message):
    with pytest.raises(CompileError, match=message):
        kernel[1, 1](bodies(2), bodies(2))


def test_unaligned_records(backend):
    """Packed records, and complex numbers whose size does not divide the distance of records."""
    if backend == "cuda":
        pytest.skip("elements that are not aligned cannot be read on a GPU")
    for dtype in (
        np.dtype([("n", "i1"), ("z", "c16"), ("x", "f4", 2)]),
        np.dtype([("z", "c8"), ("x", "f4")], align=True),
    ):
        given = np.zeros(9, dtype)
        given["z"], given["x"] = np.arange(9) * 1j, np.arange(given["x"].size).reshape(given["x"].shape)
        turned = given[::-1].copy()
        other = given.copy()
        exchanged[1, 32](given, other)
        np.testing.assert_array_equal(given, turned)
        np.testing.assert_array_equal(other, turned)
