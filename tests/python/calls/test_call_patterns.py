"""A comparison alone recognises calls like an earlier one: each property that it must see is changed once after a
call that set the pattern. The result is NumPy's, and the pattern matches again afterwards."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from fresh_functions import CPU


def combine(x, y, z, n, a, flag):
    for i in range(n):
        z[i] = a * x[i] + y[i] if flag else x[i]


def arrays(dtype=np.float64, size=12):
    rng = np.random.default_rng(3)
    return tuple((rng.random(size) * 9).astype(dtype) for _ in range(3))


def expected(x, y, z, n, a, flag):
    """The loop's result in `z`, computed without overlap or conversions."""
    x, y, result = x.copy(), y.copy(), z.copy()
    for i in range(n):
        result[i] = a * x[i] + y[i] if flag else x[i]
    return result


def check(f, x, y, z, n, a, flag):
    want = expected(x, y, z, n, a, flag)
    f(x, y, z, n, a, flag, opts=CPU)
    np.testing.assert_array_equal(z, want)


def strided(array):
    return np.repeat(array, 2)[::2]


def reversed_view(array):
    return array[::-1].copy()[::-1]


def read_only(array):
    result = array.copy()
    result.flags.writeable = False
    return result


class Subclass(np.ndarray):
    pass


CHANGES = {
    "nothing": lambda x, y, z, *rest: (x, y, z, *rest),
    "other memory": lambda x, y, z, *rest: (x.copy(), y.copy(), z.copy(), *rest),
    "element type": lambda x, y, z, *rest: (x.astype(np.float32), y, z, *rest),
    "integers of the same size": lambda x, y, z, *rest: (x.astype(np.int64), y, z, *rest),
    "byte order spelled out": lambda x, y, z, *rest: (x.astype(x.dtype.newbyteorder("=")), y, z, *rest),
    "dtype with metadata": lambda x, y, z, *rest: (x.view(np.dtype("f8", metadata={"a": 1})), y, z, *rest),
    "shape": lambda x, y, z, *rest: (np.append(x, x), y, z, *rest),
    "strides": lambda x, y, z, *rest: (strided(x), y, z, *rest),
    "direction": lambda x, y, z, *rest: (reversed_view(x), y, reversed_view(z), *rest),
    "read-only input": lambda x, y, z, *rest: (read_only(x), y, z, *rest),
    "subclass": lambda x, y, z, *rest: (x.view(Subclass), y, z, *rest),
    "buffer": lambda x, y, z, *rest: (memoryview(x), y, z, *rest),
    "fewer iterations": lambda x, y, z, n, a, flag: (x, y, z, n - 1, a, flag),
    "NumPy integer": lambda x, y, z, n, a, flag: (x, y, z, np.int32(n), a, flag),
    "bool for an integer": lambda x, y, z, n, a, flag: (x, y, z, True, a, flag),
    "scale": lambda x, y, z, n, a, flag: (x, y, z, n, a + 1, flag),
    "negative zero": lambda x, y, z, n, a, flag: (x, y, z, n, -0.0, flag),
    "NaN": lambda x, y, z, n, a, flag: (x, y, z, n, float("nan"), flag),
    "integer for a float": lambda x, y, z, n, a, flag: (x, y, z, n, 3, flag),
    "NumPy float": lambda x, y, z, n, a, flag: (x, y, z, n, np.float64(a), flag),
    "array without dimensions": lambda x, y, z, n, a, flag: (x, y, z, n, np.array(a), flag),
    "count without dimensions": lambda x, y, z, n, a, flag: (x, y, z, np.array(n), a, flag),
    "no elements": lambda x, y, z, n, a, flag: (x[:0], y[:0], z[:0], 0, a, flag),
    "flag": lambda x, y, z, n, a, flag: (x, y, z, n, a, not flag),
    "integer for a flag": lambda x, y, z, n, a, flag: (x, y, z, n, a, 1),
}


@pytest.mark.parametrize("warm_values", [False, True], ids=["fixed values", "run-time values"])
@pytest.mark.parametrize("change", list(CHANGES))
def test_one_thing_changes(change, warm_values):
    f = parpy.jit(combine)
    arguments = (*arrays(), 10, 2.5, True)
    if warm_values:
        for scale in (1.0, 2.0, 3.0, 4.0):
            check(f, *arrays(), 10, scale, True)
    check(f, *arguments)
    check(f, *arguments)
    changed = CHANGES[change](*arguments)
    as_arrays = tuple(np.asarray(each) for each in changed[:3])
    for _ in range(2):
        want = expected(*as_arrays, *changed[3:])
        f(*changed, opts=CPU)
        np.testing.assert_array_equal(as_arrays[2], want)
    check(f, *arguments)


@parpy.jit
def smear(x, z, n):
    for _ in range(2):
        for i in range(n):
            z[i] = x[i] + x[0] + x[n - 1]


@pytest.mark.parametrize(("first", "second"), [(0, 20), (0, 12), (12, 0), (0, 0), (0, 1), (1, 0), (11, 0), (0, 11)])
def test_overlap_in_memory(first, second):
    """Shapes and strides are those of the pattern; only the distance of the arrays differs."""
    f = parpy.jit(smear.__wrapped__)
    memory = np.zeros(60)
    for x, z in ((30, 45), (first, second), (30, 45), (first, second)):
        memory[:] = np.arange(1.0, 61.0)
        want = memory.copy()
        smear.__wrapped__(want[x : x + 12], want[z : z + 12], 12)
        f(memory[x : x + 12], memory[z : z + 12], 12, opts=CPU)
        np.testing.assert_array_equal(memory, want)


@parpy.jit
def halve(out, n):
    for i in range(1):
        out[i] = n // 2 + 1


def test_integers_beyond_the_range_of_run_time_values():
    f = parpy.jit(halve.__wrapped__)
    out = np.zeros(1, np.int64)
    for n in (1, 2, 3, 4, 5, 2**31 + 5, 7, 2**62, 8, -(2**40)):
        f(out, n, opts=CPU)
        assert out[0] == n // 2 + 1
    with pytest.raises(parpy.CompileError, match="does not fit 64 bits"):
        f(out, 2**70, opts=CPU)
    f(out, 8, opts=CPU)
    assert out[0] == 5


def test_counts_that_leave_the_array():
    f = parpy.jit(smear.__wrapped__)
    x, z = np.arange(12.0), np.zeros(12)
    for n in (1, 2, 3, 4, 5, 6, 6, 12):
        f(x, z, n, opts=CPU)
        assert z[n - 1] == 2 * x[n - 1]
    with pytest.raises(IndexError):
        f(x, z, 13, opts=CPU)


def test_an_output_that_becomes_read_only():
    f = parpy.jit(combine)
    x, y, z = arrays()
    check(f, x, y, z, 10, 2.0, True)
    check(f, x, y, z, 10, 2.0, True)
    x += 1
    before = z.copy()
    z.flags.writeable = False
    with pytest.raises(ValueError, match="'z' is a read-only array"):
        f(x, y, z, 10, 2.0, True, opts=CPU)
    np.testing.assert_array_equal(z, before)


def test_memory_that_is_not_aligned():
    f = parpy.jit(combine)
    x, y, z = arrays()
    check(f, x, y, z, 10, 2.0, True)
    unaligned = np.zeros(12 * 8 + 1, np.uint8)[1:].view(np.float64)
    unaligned[:] = x
    for _ in range(2):
        check(f, unaligned, y, z, 10, 2.0, True)
        check(f, x, y, unaligned, 10, 2.0, True)
        check(f, x, y, z, 10, 2.0, True)


def test_an_array_that_is_resized():
    f = parpy.jit(combine)
    x, y, z = (each.copy() for each in arrays())
    check(f, x, y, z, 10, 2.0, True)
    check(f, x, y, z, 10, 2.0, True)
    for size in (5000, 12, 10):
        x.resize(size, refcheck=False)
        check(f, x, y, z, 10, 2.0, True)
    x.resize(9, refcheck=False)
    with pytest.raises(IndexError):
        f(x, y, z, 10, 2.0, True, opts=CPU)


def test_more_shapes_and_types_than_patterns():
    f = parpy.jit(combine)
    for _ in range(3):
        for size in range(10, 18):
            for dtype in (np.float64, np.float32, np.int32, np.uint8):
                check(f, arrays(dtype, size)[0], *arrays(size=size)[1:], 10, 2.0, True)


def test_options_that_change():
    f = parpy.jit(combine)
    options = parpy.CompileOptions(backend=parpy.CompileBackend.Cpu)
    x, y, z = np.ones(10), np.zeros(10), np.zeros(10)
    for size in (None, parpy.ElemSize.F32, None):
        options.force_float_size = size
        for _ in range(2):
            f(x, y, z, 10, 0.1, True, opts=options)
            assert z[3] == (0.1 if size is None else np.float32(0.1))


def test_failures_after_a_pattern():
    @parpy.jit
    def pick(x, y, k):
        for i in range(1):
            y[i] = x[k[i]]

    checked = parpy.CompileOptions(backend=parpy.CompileBackend.Cpu, check="bounds")
    x, y, k = np.arange(4.0), np.zeros(1), np.zeros(1, np.int64)
    for index in (1, 2, 9, 3):
        k[0] = index
        if index < 4:
            pick(x, y, k, opts=checked)
            assert y[0] == index
        else:
            with pytest.raises(IndexError):
                pick(x, y, k, opts=checked)
