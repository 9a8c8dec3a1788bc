"""Universal functions of dates and durations on every target, and signatures without a result."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from parpy import cuda
from parpy.cuda import NPDatetime, NPTimedelta, types
from ufunc_targets import DEVICES, TARGETS, on_device, on_host

FIRST = np.array(["2020-01-01", "2021-05-06", "1969-12-31"], "M8[D]")
SECOND = np.array(["2020-02-01", "2021-05-01", "1999-01-01"], "M8[D]")


def days_between(a, b):
    return b - a


def later(a, step, n):
    return a + step * n


def total(a, out):
    out[0] = 0
    for i in range(a.size):
        out[0] += a[i]


@pytest.mark.parametrize("target", TARGETS)
def test_dates_broadcast_and_fill_arrays(target):
    f = parpy.vectorize([NPTimedelta("D")(NPDatetime("D"), NPDatetime("D"))], target=target)(days_between)
    found = f(FIRST, SECOND)
    assert found.dtype == "m8[D]" and (found == SECOND - FIRST).all()
    assert (f(FIRST[:, None], SECOND) == SECOND - FIRST[:, None]).all()
    assert f(FIRST[0], SECOND[0]) == SECOND[0] - FIRST[0]
    out = np.zeros(3, "m8[D]")
    assert f(FIRST, SECOND, out=out) is out and (out == SECOND - FIRST).all()
    assert f.types == ["MM->m"] and (f.nin, f.nout) == (2, 1)


@pytest.mark.parametrize("target", TARGETS)
def test_dates_are_cast_to_the_unit_of_the_signature(target):
    f = parpy.vectorize("NPDatetime('ms')(NPDatetime('ms'), NPTimedelta('ms'), int64)", target=target)(later)
    found = f(FIRST, np.timedelta64(2, "s"), np.arange(3))
    assert found.dtype == "M8[ms]" and (found == FIRST + np.timedelta64(2, "s") * np.arange(3)).all()


@pytest.mark.parametrize("target", TARGETS)
def test_sums_of_durations(target):
    f = parpy.guvectorize(["void(NPTimedelta('D')[:], NPTimedelta('D')[:])"], "(n)->()", target=target)(total)
    rows = np.stack([SECOND - FIRST, FIRST - SECOND])
    assert (f(rows) == rows.sum(axis=1)).all()


@pytest.mark.parametrize("target", DEVICES)
def test_dates_on_the_device_stay_there(target):
    f = parpy.vectorize([(NPDatetime("D"), NPDatetime("D"))], target=target)(days_between)
    found = f(on_device(FIRST), on_device(SECOND))
    assert isinstance(found, cuda.DeviceNDArray) and (on_host(found) == SECOND - FIRST).all()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((np.arange(3), SECOND), r"not supported for the input types \(int64, datetime64\[D\]\).*its loops are MM->m"),
        ((FIRST.astype("M8[s]"), SECOND), "not supported for the input types"),
        ((FIRST,), "takes from 2 to 3 positional arguments"),
    ],
)
@pytest.mark.parametrize("target", TARGETS)
def test_operands_that_are_no_dates_of_the_signature(arguments, text, target):
    f = parpy.vectorize([NPTimedelta("D")(NPDatetime("D"), NPDatetime("D"))], target=target)(days_between)
    with pytest.raises(TypeError, match=text):
        f(*arguments)


@pytest.mark.parametrize("target", TARGETS)
def test_units_of_a_signature(target):
    f = parpy.vectorize(
        [NPTimedelta("s")(NPDatetime("D"), NPDatetime("D")), NPTimedelta("ms")(NPDatetime("ms"), NPDatetime("ms"))],
        target=target,
    )(days_between)
    assert f(FIRST, SECOND).dtype == "m8[s]" and (f(FIRST, SECOND) == SECOND - FIRST).all()
    assert f(FIRST.astype("M8[h]"), SECOND).dtype == "m8[ms]"
    assert f.types == ["MM->m"]
    with pytest.raises(TypeError, match="is used as datetime64"):
        parpy.vectorize([NPDatetime("D")(NPDatetime("D"), NPDatetime("D"))])(days_between)
    with pytest.raises(TypeError, match="'parsecs' is not a unit"):
        NPDatetime("parsecs")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("given", [[(types.float32, types.float32)], "(float32, float32)", (types.f4, types.f4)])
def test_signatures_without_a_result(target, given):
    f = parpy.vectorize(given, target=target)(days_between)
    found = f(np.float32([1, 2]), np.float32([3, 5]))
    assert found.dtype == np.float32 and found.tolist() == [2, 3] and f.types == ["ff->f"]


def test_ufuncs_under_the_names_of_numba_cuda():
    assert cuda.vectorize(["float32(float32)"])(abs_of)(np.float32([-1])).tolist() == [1]
    assert cuda.guvectorize(["void(m8[:], m8[:])".replace("m8", "int64")], "(n)->()")(total)(np.arange(4)) == 6


def abs_of(a):
    return abs(a)
