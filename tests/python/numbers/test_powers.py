"""Powers of integers: a negative exponent at run time raises ValueError when the power is evaluated."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from failing import LAST, agrees, backend, on_host, options  # noqa: F401


@parpy.jit
def powers(x, k, least):
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i] = x[i] + 2 ** k[i] if k[i] >= least else -1


@parpy.jit
def power_in_a_condition(x, k):
    parpy.label("i")
    for i in range(x.shape[0]):
        j = 0
        while j < 3 and 3 ** k[i] > j:
            j += 1
        x[i] = j


@parpy.jit
def power_updates(x, k):
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i] **= k[i]
        t = 3
        t **= k[i]
        x[i] += t


@parpy.jit
def power_in_a_reduced_subscript(x, k):
    parpy.label("i")
    for i in range(8):
        x[2 ** k[0] - 1] += i


@parpy.jit
def power_in_a_range(x, k):
    parpy.label("i")
    for i in range(x.shape[0]):
        for j in range(2 ** k[i]):
            if j == 1:
                continue
            x[i] += j


@pytest.mark.parametrize("function", [power_updates, power_in_a_reduced_subscript, power_in_a_range])
def test_powers_are_guarded_wherever_they_stand(function):
    x = np.full(3, 2)
    assert agrees(function, (x, np.array([1, 2, 3])), i=32) is None
    assert isinstance(agrees(function, (x, np.array([-1, 2, 3])), i=32), ValueError)


@pytest.mark.parametrize("exponents", [[0, 3, 62], [1, -1, 2], [5, 6, -(2**63)]])
def test_negative_powers_of_integers_raise_where_they_are_evaluated(exponents):
    x, k = np.ones(3, np.int64), np.array(exponents)
    raised = agrees(powers, (x, k, -LAST), i=32)
    assert (raised is not None) == (min(exponents) < 0)
    if raised is not None:
        assert isinstance(raised, ValueError)
        assert f"negative power {min(exponents)}" in str(raised)
    assert agrees(powers, (x, k, 0), i=32) is None
    assert (agrees(power_in_a_condition, (x, k), i=32) is not None) == (min(exponents) < 0)


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "float64"])
def test_powers_keep_their_types(dtype):
    """These exponents are not negative; unsigned exponents and floats cannot fail."""
    x, k = np.ones(4, dtype), np.array([0, 1, 2, 3], dtype)
    agrees(powers, (x, k, 0), i=32)
    if dtype == "float64":
        assert agrees(powers, (x, -k, -LAST), i=32) is None


EXPONENTS = (3, 4, 5, 6, 7, 15, -1, -2, -3, -15, 0.5, 1.5, 2.5, 3.5, -0.5, -1.5, -3.5)


@parpy.jit
def simple_powers(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        y[0, i] = x[i] ** 3
        y[1, i] = x[i] ** 4.0
        y[2, i] = x[i] ** 5
        y[3, i] = np.power(x[i], 6)
        y[4, i] = x[i] ** 7
        y[5, i] = x[i] ** 15
        y[6, i] = x[i] ** -1
        y[7, i] = x[i] ** -2
        y[8, i] = x[i] ** -3.0
        y[9, i] = x[i] ** -15
        y[10, i] = x[i] ** 0.5
        y[11, i] = x[i]
        y[11, i] **= 1.5
        v = x[i]
        v **= 2.5
        y[12, i] = v
        y[13, i] = x[i] ** 3.5
        y[14, i] = x[i] ** -0.5
        y[15, i] = x[i] ** -1.5
        y[16, i] = x[i] ** -3.5


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_simple_powers_are_rounded_once(dtype):
    """Powers whose exponent the text has are products, roots and quotients with the error of one rounding."""
    info = np.finfo(dtype)
    rng = np.random.default_rng(0)
    powers_of_two = np.exp2(rng.uniform(info.minexp - info.nmant, info.maxexp, 3000))
    special = [
        0.0,
        -0.0,
        1,
        -1,
        np.inf,
        -np.inf,
        np.nan,
        info.max,
        -info.max,
        info.tiny,
        -info.tiny,
        info.smallest_subnormal,
    ]
    values = np.concatenate([powers_of_two, -powers_of_two[:500], rng.uniform(0.5, 2, 5000), special])
    with np.errstate(all="ignore"):
        x = values.astype(dtype)
        y = np.empty((len(EXPONENTS), len(x)), dtype)
        simple_powers(x, y, opts=options(i=64))
        for row, exponent in zip(y, EXPONENTS, strict=True):
            # Powers of single numbers: NumPy's of an array by 0.5 are square roots, of -inf and -0.0 too.
            exact = np.power(x.astype(np.longdouble), np.full(len(x), exponent, np.longdouble))
            want = exact.astype(dtype)
            finite = np.isfinite(want) & (want != 0)
            np.testing.assert_array_equal(row[~finite], want[~finite], str(exponent))
            assert np.array_equal(np.signbit(row[want == 0]), np.signbit(want[want == 0])), exponent
            units = np.abs((row[finite] - exact[finite]) / np.spacing(np.abs(want[finite])).astype(np.longdouble))
            # The rounding error of a tiny number is no number.
            least = info.tiny / np.longdouble(info.eps)
            tiny = np.minimum(np.abs(exact), np.abs(x))[finite] < least
            assert units[~tiny].max() <= 0.51, exponent
            assert units[tiny].max(initial=0) <= 1.5, exponent


def test_exponents_that_are_arguments_do_not_change_bits_when_they_become_run_time_values():
    @parpy.jit
    def raised(x, y, p):
        for i in range(x.shape[0]):
            y[i] = x[i] ** p

    x = np.random.default_rng(1).uniform(0.5, 2, 1000)
    first, later = np.empty_like(x), np.empty_like(x)
    raised(x, first, 3.0)
    for p in range(40):
        raised(x, later, p + 0.25)
    raised(x, later, 3.0)
    assert first.tobytes() == later.tobytes()


def test_square_roots_of_arrays_are_numpys():
    """NumPy's power of an array by 0.5 is its square root: -0.0 stays -0.0, and that of -inf is NaN."""

    @parpy.jit
    def roots(x, y, z, single):
        y[:] = x[:] ** 0.5
        z **= 0.5
        parpy.label("i")
        for i in range(x.shape[0]):
            single[i] = x[i] ** 0.5
        return (x + x) ** 0.5

    for dtype in ["float64", "float32", "float16"]:
        x = np.array([-0.0, -np.inf, np.inf, 0.0, -1.0, 2.0, np.nan, 9.0, np.finfo(dtype).tiny], dtype)
        want, got = ([np.empty_like(x), x.copy(), np.empty_like(x)] for _ in range(2))
        with np.errstate(all="ignore"):
            expected = roots(x, *want, seq=True)
            result = roots(x, *got, opts=parpy.auto(backend=options().backend))
        for a, b in zip([expected, *want], [result, *got], strict=True):
            np.testing.assert_array_equal(b, a)
            known = ~np.isnan(a)
            np.testing.assert_array_equal(np.signbit(b[known]), np.signbit(a[known]))


@on_host
def test_powers_under_fast_math_overflow_to_infinity():
    """Without infinities among the numbers the compiler would delete the test of the rounding error."""

    @parpy.jit
    def powers_of_large_numbers(x, y):
        for i in range(x.shape[0]):
            y[0, i] = x[i] ** 3
            y[1, i] = x[i] ** 3.5
            y[2, i] = (1 / x[i]) ** -7
            y[3, i] = (1 / x[i]) ** -2.5

    x = np.geomspace(1, 1e300, 40)
    y = np.empty((4, 40))
    powers_of_large_numbers(x, y, opts=parpy.auto(backend=parpy.CompileBackend.Cpu, fast_math=True))
    with np.errstate(over="ignore"):
        for row, exponent in zip(y, [3, 3.5, 7, 2.5], strict=True):
            np.testing.assert_allclose(row, x**exponent, rtol=1e-14)


def test_roots_and_reciprocals_of_complex_arrays_are_numpys():
    @parpy.jit
    def roots_and_reciprocals(x, y):
        y **= 0.5
        return x[:] ** 0.5, x**-1

    for dtype in ["complex128", "complex64"]:
        x = np.array([-1, -4, 4, complex(-1, -0.0), complex(-np.inf, 1)], dtype)
        want, got = x.copy(), x.copy()
        expected = roots_and_reciprocals(x, want, seq=True)
        result = roots_and_reciprocals(x, got, opts=parpy.auto(backend=options().backend))
        assert str([*result, got]) == str([*expected, want])
