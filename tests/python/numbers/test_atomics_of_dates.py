"""Atomic operations of kernels on dates and durations, with units and NaT as in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import parpy.cuda as cuda

pytestmark = pytest.mark.usefixtures("simulator")

NAT = np.iinfo(np.int64).min


@cuda.jit
def added(x, where, out, old):
    i = cuda.grid(1)
    if i < x.shape[0]:
        old[i] = cuda.atomic.add(out, where[i], x[i])


@cuda.jit(debug=True)
def subtracted(x, where, out, old):
    i = cuda.grid(1)
    if i < x.shape[0]:
        old[i] = cuda.atomic.sub(out, where[i], x[i])


@pytest.mark.parametrize("kind", ["m8[m]", "M8[m]"])
@pytest.mark.parametrize("unit", ["h", "m", "s", "D"])
def test_sums(kind, unit):
    rng = np.random.default_rng(1)
    x = rng.integers(-500, 500, 1000).astype(f"m8[{unit}]")
    where = rng.integers(0, 7, 1000)
    where[x.astype(int) % 100 == 3] = 7
    x[(where == 7) & (x.astype(int) > 0)] = "NaT"
    start = np.arange(8).astype(kind)
    start[3] = "NaT"
    for kernel, sign in ((added, 1), (subtracted, -1)):
        out, old = start.copy(), np.zeros(1000, kind)
        kernel[4, 256](x, where, out, old)
        wanted = start.copy()
        for value, at in zip(x, where, strict=True):
            wanted[at] += sign * value
        assert wanted.dtype == out.dtype and (out.view(int) == wanted.view(int)).all()
        assert (old[where == 3].view(int) == NAT).all() and not np.isnat(old[where == 4]).any()
        assert np.isnat(out[7]) and np.isnat(out[3])


@cuda.jit
def extremes(x, high, low, present, first):
    for i in range(x.shape[0]):
        cuda.atomic.max(high, 0, x[i])
        cuda.atomic.min(low, 0, x[i])
        cuda.atomic.nanmax(present, 0, x[i])
        cuda.atomic.nanmin(first, 0, x[i])


@pytest.mark.parametrize("kinds", [("m8[h]", "m8[m]"), ("M8[D]", "M8[s]"), ("m8[s]", "m8[m]"), ("M8[D]", "M8[M]")])
@pytest.mark.parametrize("missing", [False, True])
def test_extremes(kinds, missing):
    x = np.array([5, -700, 900, 13], "i8").view(kinds[0])
    if missing:
        x[1] = "NaT"
    values = x.astype(kinds[1])
    results = [np.zeros(1, kinds[1]) for _ in range(4)]
    extremes[1, 1](x, *results)
    known = [*values[~np.isnat(values)], np.zeros(1, kinds[1])[0]]
    assert [each[0] for each in results] == [max(known), min(known), max(known), min(known)]
    gone = [np.full(1, "NaT", kinds[1]) for _ in range(4)]
    extremes[1, 1](x, *gone)
    assert np.isnat(gone[0][0]) and np.isnat(gone[1][0])
    assert [gone[2][0], gone[3][0]] == [max(known[:-1]), min(known[:-1])]


def test_extremes_of_many_threads():
    @cuda.jit
    def kernel(x, high, low):
        i = cuda.grid(1)
        if i < x.shape[0]:
            cuda.atomic.max(high, (i % 3, 0), x[i])
            cuda.atomic.nanmin(low, (i % 3, 0), x[i])

    x = np.random.default_rng(2).integers(-(10**6), 10**6, 3000).view("M8[s]")
    high, low = np.full((3, 1), "1900-01-01", "M8[s]"), np.full((3, 1), "NaT", "M8[s]")
    kernel[12, 256](x, high, low)
    assert (high[:, 0] == x.reshape(-1, 3).max(0)).all() and (low[:, 0] == x.reshape(-1, 3).min(0)).all()


def test_exchanges():
    @cuda.jit
    def kernel(x, out, old):
        old[0] = cuda.atomic.exch(out, 0, x[0])
        old[1] = cuda.atomic.cas(out, 1, x[1], x[2])
        old[2] = cuda.atomic.cas(out, 2, x[1], x[2])
        old[3] = cuda.atomic.compare_and_swap(out[3:], x[3], x[0])

    x = np.array([1, 2, 3, "NaT"], "m8[h]")
    out, old = np.array([7, 120, 121, "NaT"], "m8[m]"), np.zeros(4, "m8[m]")
    kernel[1, 1](x, out, old)
    assert out.view(int).tolist() == [60, 180, 121, 60] and old.view(int).tolist() == [7, 120, 121, NAT]


def test_in_functions_and_beside_numbers():
    @cuda.jit(device=True)
    def note(totals, counts, at, value):
        cuda.atomic.add(counts, at, 1)
        return cuda.atomic.add(totals, at, 2 * value)

    @cuda.jit
    def kernel(x, totals, counts):
        i = cuda.grid(1)
        if i < x.shape[0]:
            note(totals, counts, i % 2, x[i])

    x, totals, counts = np.arange(10).astype("m8[D]"), np.zeros(2, "m8[h]"), np.zeros(2, np.int32)
    kernel[1, 32](x, totals, counts)
    assert totals.view(int).tolist() == [48 * 20, 48 * 25] and counts.tolist() == [5, 5]


@pytest.mark.parametrize(("x", "out"), [("M8[D]", "M8[D]"), ("m8[M]", "m8[D]"), ("M8[D]", "m8[D]")])
def test_sums_that_numpy_does_not_have(x, out):
    given, made = np.ones(3, "i8").view(x), np.ones(3, "i8").view(out)
    kept = made.copy()
    with pytest.raises(TypeError):
        made += given
    with pytest.raises(TypeError):
        added[1, 32](given, np.zeros(3, int), made, np.zeros(3, out))
    assert (made == kept).all()


def test_days_are_not_added_to_months():
    given, made = np.ones(3, "m8[D]"), np.ones(3, "i8").view("M8[M]")
    with pytest.raises(TypeError, match="convert them with astype"):
        added[1, 32](given, np.zeros(3, int), made, made.copy())
    assert (made.view(int) == 1).all()
