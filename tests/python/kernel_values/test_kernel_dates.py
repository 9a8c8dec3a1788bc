"""Dates and durations as arguments of kernels, on the device and in signatures; types under numba.cuda's names."""

from __future__ import annotations

import numpy as np
import pytest

from nvrtc import cubin
from parpy import cuda
from parpy.cuda import NPDatetime, NPTimedelta, types

FIRST = np.array(["2020-01-01", "2021-05-06"], "M8[D]")
SECOND = np.array(["2020-02-01", "2022-05-06"], "M8[D]")


def between(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = b[i] - a[i]


def test_device_arrays_of_dates():
    x = cuda.to_device(FIRST)
    assert x.dtype == "M8[D]" and (x.copy_to_host() == FIRST).all() and x[1] == FIRST[1]
    x[0] = SECOND[0]
    assert x[0] == SECOND[0] and (x[::-1].copy_to_host() == [FIRST[1], SECOND[0]]).all()
    x[:] = FIRST
    out = cuda.device_array(2, "m8[D]")
    cuda.jit(between)[1, 32](x, cuda.to_device(SECOND), out)
    assert (out.copy_to_host() == SECOND - FIRST).all()
    assert (cuda.as_cuda_array(x).view("i8").copy_to_host() == FIRST.view("i8")).all()


WITH_NAT = np.array(["2020-01-01", "NaT", "1969-12-31", "2021-05-05"], "M8[D]")
TIMES = np.array(["2020-02-01T01", "2000-01-01", "NaT", "2021-01-01"], "M8[s]")


@cuda.jit(device=True)
def later(a, n):
    return a + np.timedelta64(n, "D")


@cuda.jit
def compared(a, b, step, gap, below, hours, moved):
    i = cuda.grid(1)
    if i < a.size:
        gap[i] = b[i] - a[i]
        below[i] = a[i] < b[i]
        found = np.timedelta64(0, "D")
        if a[i] != b[i] and not np.isnat(a[i]):
            found = gap[i]
        hours[i] = found / np.timedelta64(1, "h")
        moved[i] = later(a[i], i) + step


@pytest.mark.parametrize("place", [np.asarray, cuda.to_device])
def test_units_and_nat_in_kernels(place):
    gap, below, hours, moved = np.zeros(4, "m8[s]"), np.zeros(4, bool), np.zeros(4), np.zeros(4, "M8[h]")
    step = np.timedelta64(180, "m")
    there = place(gap)
    compared[1, 32](place(WITH_NAT), place(TIMES), step, there, below, hours, moved)
    wanted = TIMES - WITH_NAT
    np.testing.assert_array_equal(there if there is gap else there.copy_to_host(), wanted)
    np.testing.assert_array_equal(below, WITH_NAT < TIMES)
    np.testing.assert_array_equal(hours, np.where(np.isnat(WITH_NAT), 0, wanted / np.timedelta64(1, "h")))
    np.testing.assert_array_equal(moved, WITH_NAT + np.arange(4) * np.timedelta64(1, "D") + step)


@cuda.jit("void(NPDatetime('D')[:], NPDatetime('s')[:], NPTimedelta('s')[:])")
def known_gaps(a, b, out):
    i = cuda.grid(1)
    if i < a.size and not np.isnat(a[i]):
        out[i] = b[i] - a[i]


def test_inspections_of_kernels_with_dates():
    gap = np.ones(4, "m8[s]")
    known_gaps[1, 32](WITH_NAT, TIMES, gap)
    np.testing.assert_array_equal(gap, np.where(np.isnat(WITH_NAT), np.timedelta64(1, "s"), TIMES - WITH_NAT))
    cubin(known_gaps.inspect_source())
    assert known_gaps.get_regs_per_thread() == known_gaps.get_regs_per_thread(WITH_NAT, TIMES, gap)
    plain = cuda.jit(known_gaps.py_func)
    plain.forall(4)(WITH_NAT, TIMES, gap)
    (types_of_launch,) = plain.signatures
    assert types_of_launch[1] == NPDatetime("s")[::1] and [*plain.get_regs_per_thread()] == [types_of_launch]
    cubin(plain.inspect_source(WITH_NAT, TIMES, gap))


def test_kernels_that_do_more_with_dates_get_integers():
    @cuda.jit
    def bits(a, out):
        i = cuda.grid(1)
        if i < a.size:
            cuda.atomic.or_(out, 0, a[i])

    found = np.zeros(1, "M8[D]")
    bits[1, 32](FIRST, found)
    assert found.view(np.int64)[0] == np.bitwise_or.reduce(FIRST.view(np.int64))
    assert "atomicOr" in bits.inspect_source(FIRST, found)
    with pytest.raises(TypeError, match="argument 1 contains NaT"):
        bits[1, 32](cuda.to_device(WITH_NAT), found)


def test_operations_that_dates_do_not_have_in_kernels():
    @cuda.jit
    def added(a, b, out):
        out[0] = a[0] + b[0]

    with pytest.raises(TypeError, match="'add' cannot use operands with types"):
        added[1, 1](FIRST, SECOND, np.zeros(1, "M8[D]"))


@pytest.mark.parametrize(
    "signature",
    [
        "void(NPDatetime('D')[:], NPDatetime('D')[:], NPTimedelta('D')[:])",
        types.void(NPDatetime("D")[:], types.from_dtype(np.dtype("M8[D]"))[:], NPTimedelta("D")[:]),
    ],
)
def test_signatures_with_dates(signature):
    kernel, out = cuda.jit(signature)(between), np.zeros(2, "m8[D]")
    kernel[1, 32](FIRST, SECOND, out)
    assert (out == SECOND - FIRST).all()
    with pytest.raises(TypeError, match=r"must be a timedelta64\[D\]\[:\], not an array of timedelta64\[s\]"):
        kernel[1, 32](FIRST, SECOND, out.astype("m8[s]"))


def test_a_duration_is_cast_to_the_unit_of_the_signature():
    @cuda.jit(types.void(NPDatetime("D")[::1], NPTimedelta("D")))
    def shift(a, step):
        i = cuda.grid(1)
        if i < a.size:
            a[i] += step

    dates = FIRST.copy()
    shift[1, 32](dates, np.timedelta64(1, "W"))
    assert (dates == FIRST + 7).all()
    with pytest.raises(TypeError, match=r"'step' must be a timedelta64\[D\], not int"):
        shift[1, 32](dates, 3)


def test_types_convert_numbers_and_say_what_values_are():
    assert (
        cuda.int32(5.5) == 5
        and type(cuda.float32(2)) is np.float32
        and str(cuda.float32(cuda.int32)) == ("float32(int32)")
    )
    assert cuda.typeof(np.ones((2, 3), "f4")) == types.float32[:, ::1] and cuda.typeof(FIRST) == NPDatetime("D")[::1]
    with pytest.raises(ValueError, match="no type for <object"):
        cuda.typeof(object())


def test_signatures_are_those_of_signatures_and_launches():
    kernel = cuda.jit(between)
    assert kernel.signatures == []
    a = np.zeros(2)
    kernel[1, 32](a, a, a.copy())
    kernel[1, 32](a, a, np.zeros(2, "f4"))
    assert kernel.signatures == [(types.f8[::1],) * 3, (types.f8[::1], types.f8[::1], types.f4[::1])]
    assert "between" in kernel.inspect_source(kernel.signatures[0])


def test_errors_under_numba_names():
    with pytest.raises(cuda.errors.TypingError):
        cuda.jit("void(float32[:])")(wrong)
    assert issubclass(cuda.CudaSupportError, cuda.errors.NumbaError)


def wrong(x):
    x[0] = x.nothing
