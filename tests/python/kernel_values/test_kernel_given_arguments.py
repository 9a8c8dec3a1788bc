"""Arguments of a launch besides numbers and arrays: In, Out and InOut, any number of them, single records that
kernels write, records of signatures, and arguments that extensions prepare."""

from __future__ import annotations

import numpy as np
import pytest

import kernel_places
from parpy import cuda
from parpy.cuda import types

backend = kernel_places.backend

RECORD = np.dtype([("a", np.float64), ("b", np.int32), ("p", np.float32, (3,))], align=True)


@cuda.jit
def shifted(x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = x[i] + 1
        x[i] = 9


@cuda.jit("void(float64[:], float64[:])")
def shifted_typed(x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = x[i] + 1
        x[i] = 9


@pytest.mark.parametrize("kernel", [shifted, shifted_typed])
def test_directions(kernel):
    x, y = np.arange(4.0), np.zeros(4)
    kernel[1, 4](cuda.In(x), cuda.Out(y))
    assert x.tolist() == [0, 1, 2, 3] and y.tolist() == [1, 2, 3, 4]
    kernel[1, 4](cuda.InOut(x), y)
    assert (x == 9).all() and y.tolist() == [1, 2, 3, 4]
    stream = cuda.stream()
    kernel.forall(4, stream=stream)(cuda.In(y), cuda.Out(x))
    stream.synchronize()
    assert x.tolist() == [2, 3, 4, 5] and y.tolist() == [1, 2, 3, 4]
    with pytest.raises(TypeError, match="In takes an array"):
        cuda.In(cuda.Out(x))


@cuda.jit(device=True)
def first_two(*given):
    return given[0] + given[1]


@cuda.jit
def any_number(out, *given):
    for i in range(len(given)):
        out[0] += given[i]
    out[1] = len(given)
    out[2] = first_two(3, 4, 5)


def test_any_number_of_arguments():
    for given in ((), (1,), (1, 2.5), (np.float32(2), 3, True)):
        out = np.zeros(3)
        any_number[1, 1](out, *given)
        assert out.tolist() == [sum(given), len(given), 7]
    out = np.zeros(3)
    any_number.forall(1, tpb=1)(out, 4, 5)
    assert out[0] == 9
    assert "any_number" in any_number.inspect_source(out, 1, 2)


@cuda.jit
def any_arrays(out, *arrays):
    i = cuda.grid(1)
    out[i] = arrays[0][i] + arrays[1][i]


def test_any_number_of_arrays():
    out = np.zeros(4)
    any_arrays[1, 4](out, np.arange(4.0), np.ones(4, np.int32))
    assert out.tolist() == [1, 2, 3, 4]


@cuda.jit(device=True)
def bumped(r):
    r.b += 1
    return r.a


@cuda.jit
def fills(r, out):
    r.a = 3.5
    r["b"] = 2
    out[0] = r.a + bumped(r)
    r.p[1] = 4


def test_single_records_are_written():
    records, out = np.zeros(3, RECORD), np.zeros(1)
    for _ in range(2):
        fills[1, 1](records[1], out)
        assert out[0] == 7
        assert records["a"].tolist() == [0, 3.5, 0] and records["b"].tolist() == [0, 3, 0]
        assert records["p"].tolist() == [[0, 0, 0], [0, 4, 0], [0, 0, 0]]
    with pytest.raises(
        TypeError, match="argument 1 must be a single record, because the kernel assigns to its fields, not an"
    ):
        fills[1, 1](records, out)
    alone = np.zeros(1, RECORD)[0].copy()
    fills.forall(1, tpb=1)(alone, out)
    assert alone["a"] == 3.5


@cuda.jit(device=True)
def sets(r, value):
    r.a = value


@cuda.jit(device=True)
def sets_later(value, r):
    sets(r, value + 1)


@cuda.jit
def hands_on(r, other):
    sets_later(2, r)
    sets(other[1], 5)


def test_single_records_are_handed_on():
    records, others = np.zeros(2, RECORD), np.zeros(2, RECORD)
    hands_on[1, 1](records[0], others)
    assert records["a"].tolist() == [3, 0] and others["a"].tolist() == [0, 5]


def test_records_of_signatures():
    record = cuda.from_dtype(RECORD)

    @cuda.jit(types.void(record[:], record))
    def kernel(records, one):
        records[0].a = one.a
        records[1].p[0] = one.b

    records, one = np.zeros(2, RECORD), np.zeros(1, RECORD)
    one["a"], one["b"] = 4, 2
    kernel[1, 1](records, one[0])
    assert records["a"].tolist() == [4, 0] and records["p"][1, 0] == 2
    with pytest.raises(TypeError, match=r"'records' must be a Record\(a, b, p\)\[:\], not an array of float64"):
        kernel[1, 1](np.zeros(2), one[0])
    with pytest.raises(TypeError, match=r"'one' must be a Record\(a, b, p\), not int"):
        kernel[1, 1](records, 3)
    assert cuda.from_dtype(np.float32) is types.float32
    assert types.Record(RECORD) == record and str(record[:, ::1]) == "Record(a, b, p)[:, ::1]"
    with pytest.raises(TypeError, match="a record has the fields of a dtype"):
        types.Record(np.dtype("f4"))
    with pytest.raises(TypeError, match="cannot be used in kernels"):
        types.from_dtype("S4")


def test_records_of_shared_and_local_arrays():
    record = cuda.from_dtype(RECORD)

    @cuda.jit
    def kernel(x):
        own = cuda.shared.array(4, RECORD)
        mine = cuda.local.array((2, 2), dtype=record)
        i = cuda.grid(1)
        own[i].p[1], own[i].a, mine[1, 0].p[2] = i, 1, 5
        cuda.syncthreads()
        x[i] = own[3 - i].p[1] + own[i].a + mine[1, 0].p[2]

    x = np.zeros(4)
    kernel[1, 4](x)
    assert x.tolist() == [9, 8, 7, 6]


class Wrapped:
    def __init__(self, array):
        self.array = array


class Unwraps:
    def prepare_args(self, ty, val, stream=None, retr=None):
        if isinstance(val, Wrapped):
            retr.append(lambda: done.append(len(val.array)))
            return types.float64[::1], val.array
        kinds.append(ty)
        return ty, val


done: list = []
kinds: list = []


def test_extensions():
    @cuda.jit(extensions=[Unwraps()])
    def kernel(x, n, y):
        x[0] = n

    x = np.zeros(2)
    kernel[1, 1](Wrapped(x), 3, np.zeros((2, 2), np.float32))
    assert x[0] == 3 and done == [2]
    assert kinds == [types.int64, types.float32[:, ::1]]
    assert len(kernel.extensions) == 1
    with pytest.raises(TypeError, match="an extension has a method prepare_args"):
        cuda.jit(extensions=[3])
