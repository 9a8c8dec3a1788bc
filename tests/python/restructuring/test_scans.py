"""Loops whose iterations pass on sums and counts: on GPUs blocks of iterations run independently (split-scans)."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, copies

N = 20_000
GPUS = TARGETS[1:]  # the simulator, and a GPU if there is one


def prefix_sums(x, y, n):
    s = x[0]
    for i in range(n):
        s += x[i]
        y[i] = s
    y[0] = s


def kept(x, y, n):
    k = 0
    for i in range(n):
        if x[i] > 0:
            y[k] = x[i]
            k += 1
    return k


def pairs(x, y, n):
    """Two elements at a time, the second before the count advances, the first behind."""
    k = 0
    for i in range(n):
        if x[i] > 3:
            y[k + 1] = -x[i]
            k += 2
            y[k - 2] = x[i]
    return k


def running_maximum(x, y, n):
    m = x[0]
    for i in range(n):
        m = max(m, x[i])
        y[i] = m


def running_product(x, y, n):
    """Only the sign changes, so that products in another order have the same bits."""
    p = x[0]
    for i in range(n):
        if x[i] > 20:
            p *= -1
        y[i] = p


def segments(x, y, n):
    """A number for each run of positive elements."""
    number = 0
    for i in range(1, n):
        if x[i] > 0 and x[i - 1] <= 0:
            number += 1
        y[i] = number


def several(x, y, n):
    s = 0 * x[0]
    k = 0
    total = 0
    for i in range(n):
        t = 2 * x[i]
        s += t
        if t > 10:
            y[k] = s
            k += 1
        total += 1
    return total + k


def ballot(x, y, n):
    """Stores and counts in a loop inside."""
    k = 0
    for i in range(n // 8):
        for j in range(8):
            if x[8 * i + j] > 5:
                y[k] = 8 * i + j
                k += 1
    return k


PROGRAMS = [
    prefix_sums,
    kept,
    pairs,
    running_maximum,
    running_product,
    segments,
    several,
    ballot,
]


def data(dtype, n=N):
    rng = np.random.default_rng(n)
    x = rng.integers(-60, 60, n + 1).astype(dtype)
    return x, np.full(2 * n + 4, -1, dtype), n


def check(backend, function, given):
    opts = parpy.auto(backend=parpy.CompileBackend(backend))
    want, got = copies(given), copies(given)
    expected = function(*want)
    compiled = parpy.jit(function)
    assert compiled(*got, opts=opts) == expected
    for a, b in zip(want, got, strict=True):
        np.testing.assert_array_equal(b, a)


def is_split(function, given):
    text = parpy.print_compiled(parpy.jit(function), copies(given), parpy.auto(backend=parpy.CompileBackend.Cuda))
    return "_starts" in text


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.float64, np.float32])
@pytest.mark.parametrize("function", PROGRAMS)
@pytest.mark.parametrize("backend", GPUS)
def test_long_loops(backend, function, dtype):
    """The numbers are whole and small, so that sums in another order have the same bits."""
    given = data(dtype)
    check(backend, function, given)
    assert is_split(function, given)


@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 6, 7, 8, 15, 16, 17, 33, 64, 100, 257])
@pytest.mark.parametrize("function", PROGRAMS)
def test_all_sizes(function, n, monkeypatch):
    monkeypatch.setenv("PARPY_SCANS", "2")
    check("sim", function, data(np.int64, n))


@pytest.mark.parametrize("function", PROGRAMS)
def test_all_are_split_when_asked_for(function, monkeypatch):
    monkeypatch.setenv("PARPY_SCANS", "2")
    assert is_split(function, data(np.int64, 40))
    monkeypatch.setenv("PARPY_SCANS", "0")
    assert not is_split(function, data(np.int64, N))


def limited(x, y, n):
    """The condition depends on the count."""
    k = 0
    for i in range(n):
        if x[i] > 0 and k < 10:
            y[k] = x[i]
            k += 1
    return k


def recurrence(x, y, n):
    s = x[0]
    for i in range(n):
        s = s // 2 + x[i]
        y[i] = s


def overwritten(x, y, n):
    """Some elements are stored to twice: the last one counts."""
    k = 0
    for i in range(n):
        y[k] = x[i]
        if x[i] > 0:
            k += 1
    return k


def too_wide(x, y, n):
    """Neighbouring iterations overlap."""
    k = 0
    for i in range(n):
        y[k] = x[i]
        y[k + 1] = -x[i]
        k += 1
    return k


def wraps(x, y, n):
    """The first element is stored to as the last one of the array, too."""
    k = -3
    for i in range(n):
        if x[i] > 0:
            y[k] = x[i]
            k += 1
    return k


def from_the_end(x, y, n):
    """The count may get below zero, where subscripts count from the end."""
    k = len(y) - 1
    for i in range(n):
        if x[i] > 0 and x[i] < 50:
            y[k] = i
            k -= 1
    return k


def divided(x, y, n):
    """Two counts in one array, which may meet."""
    low = 0
    high = len(y) // 2
    for i in range(n):
        if x[i] < 0:
            y[low] = x[i]
            low += 1
        else:
            y[high] = x[i]
            high += 1
    return low


def own_input(x, y, n):
    """Later iterations read stored elements."""
    k = 0
    for i in range(n):
        if x[i] > 0:
            x[k] = x[i]
            k += 1
    return k


def both_ways(x, y, n):
    k = n
    for i in range(n):
        y[k] = x[i]
        if x[i] > 0:
            k += 1
        else:
            k -= 1
    return k


def read_back(x, y, n):
    s = 0 * x[0]
    for i in range(1, n):
        s += y[i - 1]
        y[i] = s + x[i]
    return s


def narrow_count(x, y, n):
    """The count wraps around, so that later elements replace earlier ones."""
    k = np.uint8(0)
    for i in range(n):
        if x[i] > -70:
            y[k] = x[i]
            k += np.uint8(1)
    return int(k)


def own_end(x, y, n):
    """The number of iterations is that at the start of the loop."""
    k = n // 2
    for i in range(k):
        y[i] = k
        k += 1
    return k


OTHERS = [
    narrow_count,
    own_end,
    limited,
    recurrence,
    overwritten,
    too_wide,
    wraps,
    from_the_end,
    divided,
    own_input,
    both_ways,
    read_back,
]


@pytest.mark.parametrize("n", [1, 5, 40, N])
@pytest.mark.parametrize("function", OTHERS)
@pytest.mark.parametrize("backend", GPUS)
def test_others_keep_their_order(backend, function, n, monkeypatch):
    monkeypatch.setenv("PARPY_SCANS", "2" if n < N else "1")
    check(backend, function, data(np.int64, n))


def test_counts_that_wrap_around_stay():
    assert not is_split(narrow_count, data(np.int64))


@pytest.mark.parametrize("n", [40, N])
def test_arguments_in_one_memory(n, monkeypatch):
    monkeypatch.setenv("PARPY_SCANS", "2" if n < N else "1")
    for function in (prefix_sums, kept, segments, running_maximum):
        for shift in (0, 1, 7):
            base = data(np.int64, n)[0].copy()
            base = np.concatenate([base, base, base])
            want, got = base.copy(), base.copy()
            function(want[: n + 1], want[shift : shift + 2 * n], n)
            parpy.jit(function)(
                got[: n + 1], got[shift : shift + 2 * n], n, opts=parpy.auto(backend=parpy.CompileBackend.Sim)
            )
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("function", [prefix_sums, kept, running_maximum, several])
def test_infinities_and_nan(function, monkeypatch):
    monkeypatch.setenv("PARPY_SCANS", "2")
    rng = np.random.default_rng(3)
    for special in (np.nan, np.inf, -np.inf, -0.0):
        x, y, n = data(np.float64, 60)
        x[rng.integers(0, n, 4)] = special
        check("sim", function, (x, y, n))
        check("sim", function, (np.full(n + 1, special), y, n))
        check("sim", function, (x[::-1], y[::-1], n))


def test_deterministic_sums_keep_their_order():
    opts = parpy.auto(backend=parpy.CompileBackend.Cuda, deterministic=True)
    for dtype, split in ((np.float64, False), (np.int64, True)):
        text = parpy.print_compiled(parpy.jit(prefix_sums), data(dtype), opts)
        assert ("_starts" in text) == split


def test_counts_do_not_depend_on_rounding():
    """Two evaluations of a function might differ, and with them the counts of two loops."""

    def by_function(x, y, n):
        k = 0
        for i in range(n):
            if np.sin(x[i]) > 0:
                y[k] = x[i]
                k += 1
        return k

    def of_function(x, y, n):
        s = 0.0
        for i in range(n):
            s += np.sin(x[i])
            y[i] = s

    assert not is_split(by_function, data(np.float64))
    assert is_split(of_function, data(np.float64))


@pytest.mark.parametrize("backend", TARGETS)
def test_numpy_forms(backend):
    def forms(x, m):
        positive = x[x > 0]
        places = np.flatnonzero(m)
        return positive, places, np.cumsum(x), np.maximum.accumulate(x)

    x = np.random.default_rng(1).integers(-9, 9, 5000)
    m = x % 3 == 0
    opts = parpy.auto(backend=parpy.CompileBackend(backend))
    for a, b in zip(parpy.jit(forms)(x, m, opts=opts), forms(x, m), strict=True):
        np.testing.assert_array_equal(np.asarray(a), b)


@pytest.mark.parametrize("function", PROGRAMS)
def test_sizes_of_run_time(function, monkeypatch):
    """After a few shapes one program serves all sizes."""
    monkeypatch.setenv("PARPY_SCANS", "2")
    compiled = parpy.jit(function)
    opts = parpy.auto(backend=parpy.CompileBackend.Sim)
    for n in (8, 17, 40, 64, 3, 0, 1, 129, 66, 257, 5, 31, 32, 33, 1000):
        given = data(np.int64, n)
        want, got = copies(given), copies(given)
        assert compiled(*got, opts=opts) == function(*want)
        for a, b in zip(want, got, strict=True):
            np.testing.assert_array_equal(b, a)


def test_rows_of_a_parallel_loop_stay():
    def rows(x, y):
        for i in range(x.shape[0]):
            s = 0.0
            for j in range(x.shape[1]):
                s += x[i, j]
                y[i, j] = s

    x = np.ones((3000, 2000))
    assert not is_split(rows, (x, x.copy()))
    few = np.ones((2, 20_000))
    check("sim", rows, (few, few.copy()))


@pytest.mark.parametrize("n", [40, N])
def test_a_number_of_iterations_that_the_gpu_computes(n, monkeypatch):
    """The sizes of the memory for blocks are numbers of the host."""

    def loaded(x, y, n):
        k = 0
        for i in range(x[0]):
            if x[i] > 0:
                y[k] = x[i]
                k += 1
        return k

    def counted(x, y, n):
        m = 0
        for i in range(n):
            if x[i] > 3:
                m += 1
        k = 0
        for i in range(m):
            if x[i] > 0:
                y[k] = x[i]
                k += 1
        return k

    monkeypatch.setenv("PARPY_SCANS", "2" if n < N else "1")
    x, y, n = data(np.int64, n)
    x[0] = n // 2
    check("sim", loaded, (x, y, n))
    check("sim", counted, (x, y, n))


@pytest.mark.parametrize("n", [5, 64, N])
def test_two_arrays_of_a_partition(n, monkeypatch):
    def partition(x, low, high):
        k = 0
        m = 0
        for i in range(len(x)):
            if x[i] < 0:
                low[k] = x[i]
                k += 1
            else:
                high[m] = x[i]
                m += 1
        return k, m

    monkeypatch.setenv("PARPY_SCANS", "2" if n < N else "1")
    x = data(np.int64, n)[0]
    given = (x, np.zeros_like(x), np.zeros_like(x))
    check("sim", partition, given)
    assert is_split(partition, given)


def test_rounds_of_a_loop_of_the_host():
    def rounds(x, y, n):
        for _ in range(3):
            k = 0
            for i in range(n):
                if x[i] > 0:
                    y[k] = x[i]
                    k += 1
            for i in range(n):
                x[i] -= 7
        return k

    check("sim", rounds, data(np.int64))
    assert is_split(rounds, data(np.int64))


def test_mappings_by_hand_name_the_loop_that_is_written():
    @parpy.jit
    def labelled(x, y):
        s = 0
        parpy.label("i")
        for i in range(len(x)):
            s += x[i]
            y[i] = s

    x = data(np.int64)[0]
    opts = parpy.CompileOptions(
        parallelize={"i": parpy.threads(1024)}, restructure=True, backend=parpy.CompileBackend.Sim
    )
    with pytest.raises(parpy.CompileError, match=r"P401|P402|'s' carries a value"):
        labelled(x, x.copy(), opts=opts)
