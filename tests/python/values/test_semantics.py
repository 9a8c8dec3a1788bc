"""A compiled line computes the same as with NumPy in the interpreter, bit for bit.

Each function below runs twice on the same arguments, compiled for the CPU and with `seq=True`, for
several element types. They cover the decisions of type inference: weak Python scalars, variables
that change their type, helpers, logic on numbers, subscripts from the end, loop variables that
are read after the loop.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import parpy
from backends import TARGETS, copies, options

DTYPES = [
    np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
    np.float32, np.float64,
]  # fmt: skip
FLOATS = [np.float32, np.float64]
N = 12


HELPERS = ["scale", "clamp", "fibonacci", "increment", "count"]


@pytest.fixture
def check(monkeypatch):
    """Runs a function both ways and compares every bit of its arrays."""

    def run(function, *arguments):
        compiled = copies(arguments)
        sequential = copies(arguments)
        function(*compiled, opts=parpy.par({}))
        with np.errstate(all="ignore"), monkeypatch.context() as patch:
            for name in HELPERS:  # the interpreter runs them too
                patch.setitem(globals(), name, globals()[name].__wrapped__)
            function(*sequential, seq=True)
        for ours, numpys in zip(compiled, sequential, strict=True):
            if isinstance(ours, np.ndarray):
                np.testing.assert_array_equal(ours.view(np.uint8), numpys.view(np.uint8))

    return run


def data(dtype, seed=1):
    """Small values, so that no Python integer of a test overflows its type."""
    values = np.random.default_rng(seed).integers(0, 9, N)
    if np.issubdtype(dtype, np.floating):
        return (values / 7 - 0.5).astype(dtype)
    return values.astype(dtype)


@parpy.jit
def literals(x, y):
    for i in range(N):
        y[i] = x[i] * 2 + 1
        y[i] += x[i] // 2 - x[i] % 3
        y[i] = y[i] * True + abs(x[i])


@parpy.jit
def float_literals(x, y):
    for i in range(N):
        y[i] = x[i] * 0.1 + 1 / 3
        y[i] += x[i] ** 2 - x[i] / 7
        y[i] *= 1e-3


@parpy.jit
def accumulators(x, y):
    total = 0
    real = 0.0
    big = -math.inf
    for i in range(N):
        total += x[i]
        real += x[i] * 0.5
        big = max(big, x[i])
        y[i] = total + real
    y[0] = big
    y[1] = total


@parpy.jit
def changing_types(x, y):
    t = x[0] / 3
    y[0] = t
    t = 2
    y[1] = x[1] * t
    t = t / 3
    y[2] = x[2] + t
    t = y[3]
    t += x[3]
    y[3] = t
    for i in range(4, 8):
        t = i
        if i > 5:
            t = x[i]
        y[i] = t


@parpy.jit
def loop_variables(x, y):
    i = 7
    for i in range(3):
        y[i] = x[i] + i
    y[i] += i
    for i in range(5, 5):
        y[i] = 0
    y[i + 1] = i
    for j in range(4, 9):
        if j > 6:
            j += 1
        y[j] = x[j] * j
    y[-1] = j
    for k in range(N - 1, 5, -2):
        y[k] -= 1
    y[-2] = x[-1] + x[k - 9] + k


@parpy.jit
def negative_subscripts(x, y, at):
    for i in range(N):
        y[i] = x[i - 5] + x[-i] + x[-i - 1] + x[at[i]]
        y[at[i]] += 1
        if i >= 2:
            y[i - 2] += x[i - 2]


@parpy.jit
def logic(x, y, n):
    for i in range(N):
        y[i] = x[i] or n
        y[i] += x[i] and 3
        if (x[i] and n != i) or n > 20:
            y[i] += 1
        y[i] = y[i] if x[i] < 4 else -1.5 * n
        y[i] += (x[i] > 2) + (n > 2)
        while i < 5 and y[i] < 3:
            y[i] += 1


@parpy.jit
def scale(a, b):
    return a * b + 1


@parpy.jit
def clamp(v, low, high):
    if v < low:
        return low
    if v > high:
        return high
    return v


@parpy.jit
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


@parpy.jit
def increment(v, i, by):
    v[i] += by


@parpy.jit
def calls(x, y):
    for i in range(N):
        y[i] = scale(x[i], 2) + scale(i, 3) + clamp(x[i], 1, 4)
        increment(y, i, 1)
        increment(y, -1, x[i])
    y[0] = fibonacci(9)


@parpy.jit
def count(c, k):
    c[0] = c[0] * 3 + k
    return c[0]


@parpy.jit
def chained_effects(c, y):
    y[0] = count(c, 1) < count(c, 2) < count(c, 3)
    y[1] = count(c, 5) > count(c, 4) < count(c, 100)
    y[2] = c[0] < count(c, 1) < c[0] + 1
    y[3] = 0 < count(c, 1) < 5
    if c[0] < count(c, 2) <= c[0] != count(c, 1) < 10**6:
        y[4] = c[0]


@parpy.jit
def absolutes(x, y):
    for i in range(N):
        y[i] = np.fabs(x[i]) / 3 + np.fabs(-2) + np.fabs(True)


@parpy.jit
def comparisons(a, b, y):
    for i in range(N):
        y[i, 0] = a[i] < b[i]
        y[i, 1] = a[i] <= b[i]
        y[i, 2] = a[i] == b[i]
        y[i, 3] = a[i] != b[i]
        y[i, 4] = a[i] > b[i]
        y[i, 5] = a[i] >= b[i]
        y[i, 6] = a[i] > -1
        y[i, 7] = a[i] < 300


@parpy.jit
def functions(x, y):
    for i in range(N):
        y[i] = math.floor(x[i] * 1.5) + np.floor(x[i]) + round(x[i] / 2) + int(x[i])
        y[i] += np.sqrt(np.abs(x[i])) + math.sqrt(abs(x[i])) + min(x[i], 2) + np.maximum(x[i], 1)
        y[i] += np.float32(x[i]) * 0.1 + np.int64(x[i]) + bool(x[i])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", [literals, accumulators, changing_types, loop_variables, calls, functions])
def test_integers_and_floats(check, function, dtype):
    # NumPy refuses to store an unsigned integer that has wrapped around in an int64.
    for result in (np.float64, np.float32, np.int64)[: 2 if dtype == np.uint64 else 3]:
        check(function, data(dtype), data(result, 2))


@pytest.mark.parametrize("dtype", DTYPES)
def test_float_literals(check, dtype):
    check(float_literals, data(dtype), data(np.float64))
    check(float_literals, data(dtype), data(np.float32))


@pytest.mark.parametrize("dtype", DTYPES)
def test_fabs_has_numpys_type(check, dtype):
    values = data(dtype)
    check(absolutes, values if values.dtype.kind == "u" else -values, data(np.float64))


def test_chained_comparisons_evaluate_from_the_left(check):
    check(chained_effects, np.zeros(1, np.int64), np.zeros(5, np.int64))


@pytest.mark.parametrize("dtype", DTYPES)
def test_subscripts(check, dtype):
    at = np.array([0, -1, 5, -7, 11, -12, 3, 3, -3, 1, 2, -2])
    check(negative_subscripts, data(dtype), data(np.float64), at)
    check(negative_subscripts, data(dtype), data(np.float64), at.astype(np.int8))


@pytest.mark.parametrize("dtype", DTYPES)
def test_logic(check, dtype):
    check(logic, data(dtype), data(np.float64), 7)


@pytest.mark.parametrize("a", DTYPES)
@pytest.mark.parametrize("b", DTYPES)
def test_comparisons(check, a, b):
    left = np.array([0, 1, 2, -1, -128, 127, 2**31, -(2**31), 2**53 + 1, -(2**63), 2**63 - 1, 5])
    right = left[[1, 1, 0, 10, 4, 3, 6, 8, 8, 10, 9, 2]]
    with np.errstate(all="ignore"):
        check(comparisons, left.astype(a), right.astype(b), np.zeros((N, 8), np.bool_))


@parpy.jit
def thirds(y, n, r):
    for i in range(n):
        y[i] = i / 3 + r


def test_forced_sizes():
    """Python's numbers have 32 bits, also those that are passed at run time."""
    options = parpy.CompileOptions(
        parallelize={}, force_int_size=parpy.ElemSize.I32, force_float_size=parpy.ElemSize.F32
    )
    y = np.zeros(4)
    for r in range(12):
        thirds(y, 4, r + 0.1, opts=options)
        want = np.arange(4, dtype=np.float32) / np.float32(3) + np.float32(r + 0.1)
        np.testing.assert_array_equal(y, want)


@parpy.jit
def divisors(x, y, out):
    for i in range(out.shape[0]):
        out[i] = math.gcd(x[i], y[i]) + math.lcm(x[i], y[i], 3) * 2


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.uint8])
def test_functions_of_math_on_integers_give_python_integers(check, dtype):
    """The gcd is not truncated: math.gcd(np.int8(-128), np.int8(-128)) is 128."""
    least = np.iinfo(dtype).min
    x = np.array([least, least, 12, 0, 1], dtype)
    y = np.array([least, 6, 18, 0, 1], dtype)
    check(divisors, x, y, np.zeros(5, np.int64))


@parpy.jit
def far_powers(x, k, out, types):
    for i in range(out.shape[0]):
        out[i] = math.ldexp(x[i], int(k[i]))
        types[0] = math.ldexp(x[i], 0) * np.float32(1) == np.float32(x[i])
        types[1] = np.ldexp(x[i], 0) / 3


def test_exponents_of_ldexp_beyond_those_of_any_float(check):
    """Python raises an OverflowError if the result is infinite, and only then."""
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, 5e-324, 1.5, 1e-300, 1e300, 3e-310])
    k = np.array([10**18, 2**62, -(10**18), -(2**63), 2**63 - 1, -(10**18), 2097, -1074, -60, -2060, -1], np.int64)
    check(far_powers, x, k, np.zeros(11), np.zeros(2))


@parpy.jit
def fraction_as_power(x):
    x[0] = math.ldexp(x[0], 2.0)


@parpy.jit
def fractions_as_powers(x):
    x[:] = np.ldexp(x[:], x[:])


@pytest.mark.parametrize("function", [fraction_as_power, fractions_as_powers])
def test_exponents_of_ldexp_are_integers(function):
    with pytest.raises(parpy.CompileError, match=r"test_semantics.py:\d+:12: .*an integer is needed here, not a float"):
        function(np.ones(3))


@parpy.jit
def composed_of_slices(x, y, k, out, counts):
    out[:] = np.logaddexp(x[1:] * 2, y[:-1])
    out[:] += np.heaviside(x[:-1], 0.5) + np.ldexp(x[1:] + 1, k[1:]) + np.float_power(y[1:], k[:-1])
    counts[:] = np.bitwise_count(k)


def test_composed_functions_of_slices_and_arrays(check):
    x, y, k = np.array([0.0, 1.5, -2.0, 3.0]), np.array([1.0, 2.0, 0.25, 8.0]), np.array([1, 3, -7, 255])
    check(composed_of_slices, x, y, k, np.zeros(3), np.zeros(4, np.uint8))


@parpy.jit
def drawn(seeds):
    seeds[0] = seeds[0] * 5 + 1
    return seeds[0]


@parpy.jit
def composed_of_calls(x, seeds, out):
    for i in range(out.shape[0]):
        out[i] = math.remainder(drawn(seeds) % 100, x[i]) if x[i] > 0 else np.heaviside(drawn(seeds) - 6, -x[i])


def test_operands_of_composed_functions_are_evaluated_once(check):
    check(composed_of_calls, np.array([3.0, -0.5, 7.0, -2.0]), np.array([1]), np.zeros(4))


@parpy.jit
def constants(out):
    out[0] = (1 << 70) >> 60
    out[1] = 10**20 % 7 + -(2**63)
    out[2] = 3**41 // 3**40 - ~(2**65) // 2**64
    out[3] = -7 // 2 + -7 % 4 + (2**64 & 5) + 2**-1
    out[4] = 2**70 / 2**60 + float(10**20) / 10**3
    out[5] = np.uint64(2**64 - 1) - np.uint64(2**63)


def test_arithmetic_of_constants_has_pythons_integers(check):
    check(constants, np.zeros(6))


@parpy.jit
def divisions(x, out, begin, n, d):
    for i in range(begin, begin + n):
        at = i - begin
        out[at, 0] = i // 7
        out[at, 1] = i % 7
        out[at, 2] = at // 7 * 7 + at % 7
        if d > 0:
            out[at, 3] = i // d
            out[at, 4] = at // d + 100 * (at % d)
        if d != 0:
            out[at, 5] = at // d - at % d
        out[at, 6] = x[at] // 7 + x[at] % 7


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("backend", [parpy.CompileBackend.Cpu, parpy.CompileBackend.Sim])
def test_divisions_on_both_sides_of_zero(backend, dtype):
    """If no operand can be negative, divisions are the processor's own (simplify-divisions)."""
    x = np.array([0, 1, 6, 7, 8, 100, 120, 127, 0, 1, 2, 3], dtype)
    if x.dtype.kind == "i":
        x[8:] *= -1
    for begin in (-9, 0, 5):
        for d in (1, 3, 0, -4, 2**40):
            for n in (12, 1, 0):
                want, got = np.zeros((12, 7), np.int64), np.zeros((12, 7), np.int64)
                divisions(x, want, begin, n, d, seq=True)
                divisions(x, got, begin, n, d, opts=parpy.CompileOptions(backend=backend))
                np.testing.assert_array_equal(got, want)


@parpy.jit
def hashed(y, z, k):
    parpy.label("i")
    for i in range(y.shape[0]):
        y[i] = (i * 6364136223846793005 + 1442695040888963407) // 1024
        z[i] = (i * k - 5) >> 40


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("threads", [1, 64])
def test_products_of_loop_variables_wrap_around(backend, threads):
    k = -(2**62) - 12345
    y, z = np.zeros(100, np.int64), np.zeros(100, np.int64)
    i = np.arange(100)
    with np.errstate(over="ignore"):
        want_y, want_z = (i * 6364136223846793005 + 1442695040888963407) // 1024, (i * k - 5) >> 40
    hashed(y, z, k, opts=options(backend, {"i": threads}))
    np.testing.assert_array_equal(y, want_y)
    np.testing.assert_array_equal(z, want_z)


@parpy.jit
def lengths(x, out, s):
    for i in range(x.shape[0]):
        out[i] = math.hypot(s, 2) * x[i]


@pytest.mark.parametrize("dtype", ["f4", "f2", "i1", "f8"])
def test_hypot_of_python_numbers_is_one(dtype):
    x = np.array([1, 2, 3], dtype) if dtype == "i1" else np.array([0.1, 0.7, 1.3]).astype(dtype)
    for s in (1.7, 2):
        got, want = np.zeros((2, 3))
        lengths(x, got, s)
        lengths(x, want, s, seq=True)
        np.testing.assert_allclose(got, want, rtol=1e-12)


def test_reciprocals_of_products_and_of_complex_numbers():
    @parpy.jit
    def f(y, z, a, b, c):
        y[0] = np.reciprocal(a[0] * b[0])
        y[1] = np.reciprocal(np.degrees(a[0]))
        y[2] = np.reciprocal(a[0] / b[0])
        z[:] = np.reciprocal(c[:])

    c = np.array([0j, 3 + 4j, complex(np.inf, 1), complex(np.nan, 0), complex(0, 5e-324), -2 + 0.5j])
    arrays = np.array([3.0]), np.array([2.0]), c
    expected, found = (np.zeros(3), np.zeros_like(c)), (np.zeros(3), np.zeros_like(c))
    with np.errstate(all="ignore"):
        f(*expected, *arrays, seq=True)
    f(*found, *arrays)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("k", [2**63, 2**63 + 1, 2**64 - 3, 2**64 - 1])
def test_unsigned_subscripts_do_not_turn_negative(k):
    @parpy.jit
    def element(y, x, k):
        y[0] = x[k]

    @parpy.jit
    def some(y, x, k):
        y[:3] = x[:k]
        y[3:] = x[k:]

    x, y = np.arange(3.0), np.zeros(3)
    with pytest.raises(IndexError, match="a subscript of 2\\*\\*63 - 1 or more is out of bounds"):
        element(y, x, np.uint64(k))
    some(y, x, np.uint64(k))
    assert y.tolist() == [0, 1, 2]
