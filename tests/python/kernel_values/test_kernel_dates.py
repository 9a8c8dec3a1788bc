"""Dates and durations as arguments of kernels, on the device and in signatures; types under numba.cuda's names."""

from __future__ import annotations

import numpy as np
import pytest

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


def test_no_date_in_a_device_array():
    x = cuda.to_device(np.array(["NaT", "NaT"], "M8[D]"))
    with pytest.raises(TypeError, match="argument 1 contains NaT"):
        cuda.jit(between)[1, 32](x, x, cuda.device_array(2, "m8[D]"))


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
