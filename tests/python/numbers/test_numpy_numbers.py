"""NumPy's functions convert Python's numbers to NumPy's, whose width does not depend on the other operand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import parpy
from fresh_functions import CPU, fresh

NUMBERS = [
    "np.add(s, 0.1)", "np.add(n, 1)", "np.subtract(s, n)", "np.multiply(n, n)", "np.divide(n, 3)", "np.power(s, 2)",
    "np.power(n, 2)", "np.mod(s, 0.3)", "np.mod(n, 4)", "np.floor_divide(s, 0.3)", "np.negative(s)", "np.abs(-s)",
    "np.absolute(n)", "np.fabs(n)", "np.positive(s)", "np.conj(s)", "np.where(n > 3, s, 1)", "np.where(n > 3, 1, s)",
    "np.where(s > 0, n, True)", "np.sqrt(s)", "np.sqrt(n)", "np.sqrt(2.0)", "np.maximum(s, n)", "np.fmin(s, 2)",
    "np.clip(s, 0, 1)", "np.clip(n, 0, 1.5)", "np.logaddexp(s, 0.3)", "np.logaddexp(n, 2)", "np.logaddexp2(s, n)",
    "np.heaviside(s, 0.5)", "np.ldexp(s, 3)", "np.float_power(n, 2)", "np.spacing(s)", "np.floor(s)", "np.floor(n)",
    "np.rint(n)", "np.round(s)", "np.round(s, 1)", "np.round(n, -1)", "np.trunc(s)", "np.sign(-s)", "np.square(s)",
    "np.reciprocal(s)", "np.hypot(s, n)", "np.copysign(s, -1)", "np.left_shift(n, 2)", "np.bitwise_and(n, 6)",
    "np.invert(n)", "np.gcd(n, 14)", "np.float32(s)", "np.float32(np.add(s, 0.1))", "np.add(np.float32(s), 0.1)",
    "np.add(s, 1) if n > 2 else np.add(s, 2)", "h(np.add(s, 0.1), n)", "h(s, np.add(n, 1))", "h(s, n)",
    "np.real(s)", "s.real", "abs(s)", "s + 1", "math.sqrt(s)", "math.floor(s)", "round(s, 2)", "round(n, -1)",
    "parpy.math.erf(s)", "parpy.math.exp(s)", "parpy.builtin.maximum(s, 0.1)", "np.add(k, n)",
    "np.add(k, np.add(n, 1))",
    "np.add(True, True)", "np.multiply(True, 2)", "np.logical_not(s) + np.logical_not(n)", "np.isnan(s) + np.isnan(s)",
    "np.less(s, n) + np.less(s, n)", "np.equal(s, s) + True", "np.logical_and(s, n) + np.logical_or(s, n)",
    "np.round(np.equal(n, 3))", "np.round(n > 3)", "np.round(True, 0)",
]  # fmt: skip


HELPER = """
@parpy.jit
def h(a, b):
    return a * b
"""


@pytest.mark.parametrize(
    ("expression", "k"),
    [(each, np.int8(5)) for each in NUMBERS] + [(each, np.float32(1.3)) for each in NUMBERS if "k" in each],
)
def test_numbers(expression, k, tmp_path) -> None:
    """The product of the expression and an element of float32, float16 and int8, and its precision."""
    source = "@parpy.jit\ndef f(out, x, y, z, s, n, k):\n"
    source += "".join(f"    out[{at}] = ({expression}) * {x}[0]\n" for at, x in enumerate("xyz"))
    f = fresh(HELPER + source, tmp_path, math=math)
    arrays = np.full(1, 0.7, np.float32), np.full(1, 0.7, np.float16), np.full(1, 3, np.int8)
    expected, found = np.zeros(3), np.zeros(3)
    for s, n in ((0.123456789, 7), (2.5, 3), (0.1, 11)):
        f(expected, *arrays, s, n, k, seq=True)
        f(found, *arrays, s, n, k, opts=CPU)
        np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_types_hold_in_functions_that_ask_for_back_ends() -> None:
    @parpy.jit
    def f(out, x):
        if parpy.builtin.static_backend_eq(parpy.CompileBackend.Metal):
            out[0] = 0
        out[0] = np.ldexp(x[0], 1) * x[1]
        out[1] = np.logaddexp(x[0], x[1])

    x, out = np.full(2, 0.7, np.float32), np.zeros(2)
    expected = out.copy()
    f(expected, x, seq=True)
    f(out, x)
    assert out[0] == expected[0]
    assert abs(out[1] - expected[1]) <= np.spacing(np.float32(expected[1]))


def test_numbers_of_slices() -> None:
    @parpy.jit
    def f(out, x, s):
        out[:] = np.where(x[:] > 0.5, 1.1, s) * x[:]

    x, out = np.linspace(0, 1, 8, dtype=np.float32), np.zeros(8)
    expected = out.copy()
    f(expected, x, 0.3, seq=True)
    f(out, x, 0.3)
    assert (out == expected).all()


def test_bools_rounded() -> None:
    @parpy.jit
    def f(out, x, b):
        out[:] = np.round(b[:]) * x[:]

    x, b = np.full(4, 0.7, np.float16), np.array([True, False, True, True])
    expected, found = np.zeros(4), np.zeros(4)
    f(expected, x, b, seq=True)
    f(found, x, b)
    assert (found == expected).all()

    @parpy.jit
    def digits(out, b):
        out[0] = np.round(b[0], 1)

    with pytest.raises(parpy.CompileError, match="does not take a bool"):
        digits(found, b)


def test_forced_sizes_hold_for_numpy_numbers() -> None:
    @parpy.jit
    def f(out, s, n):
        out[0] = np.add(s, 0.1) + np.sqrt(s) + np.divide(n, 3)

    opts = parpy.CompileOptions(force_float_size=parpy.types.F32)
    text = parpy.print_compiled(f, [np.zeros(1, np.float32), 0.25, 3], opts)
    assert "double" not in text.partition("f(")[2].replace("double s", "").replace("(float)s", "")


DIGITS = [-22, -18, -5, -2, -1, 0, 1, 2, 3, 5, 10, 15, 20, 22]


@pytest.mark.parametrize("digits", DIGITS)
def test_round_to_digits(digits: int, tmp_path) -> None:
    """Python's numbers are rounded as by Python, NumPy's as by NumPy."""
    f = fresh(
        f"""
        @parpy.jit
        def f(real, whole, x, k, s, n):
            real[0] = round(s, {digits})
            real[1] = np.round(s, {digits})
            real[2] = round(x[0], {digits})
            real[3] = np.round(x[1], decimals={digits})
            whole[0] = round(n, {digits})
            whole[1] = np.round(n, {digits})
            whole[2] = round(k[0], {digits})
        """,
        tmp_path,
    )
    rng = np.random.default_rng(digits + 100)
    halves = [(2 * i + 1) / 2 * 10.0**-digits for i in range(60)]
    other = [2.675, 1.005, 0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, -1e308, 2.0**53 + 2, 4503599627370497.5]
    spread = rng.uniform(-1, 1, 60) * 10.0 ** rng.integers(-25, 30, 60)
    for s in [*halves, *(np.nextafter(h, 0) for h in halves), *other, *spread]:
        n = int(rng.integers(-(10**15), 10**15)) if abs(s) > 1e18 or math.isnan(s) else int(s * 10)
        x, k = np.array([s, -s], np.float64), np.array([n % 100], np.int8)
        expected, found = (np.zeros(4), np.zeros(3, np.int64)), (np.zeros(4), np.zeros(3, np.int64))
        with np.errstate(all="ignore"):
            f(*expected, x, k, float(s), n, seq=True)
        f(*found, x, k, float(s), n)
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(np.signbit(found[0]), np.signbit(expected[0]))
        np.testing.assert_array_equal(found[1], expected[1])


def test_round_of_slices() -> None:
    @parpy.jit
    def f(y, x):
        y[:] = np.round(x[:], 2) + np.round(x[:])

    x = np.linspace(-3, 3, 101, dtype=np.float32)
    expected, found = np.zeros_like(x), np.zeros_like(x)
    f(expected, x, seq=True)
    f(found, x)
    assert (found == expected).all()


def test_large_unsigned_scalars() -> None:
    @parpy.jit
    def f(y, g):
        y[0] = g * 1.0
        y[1] = np.float64(g)
        y[2] = np.float32(2.0) ** (g // np.uint64(2**58))

    expected, found = np.zeros(3), np.zeros(3)
    for g in (np.uint64(2**64 - 1), np.uint64(2**63)):
        f(expected, g, seq=True)
        f(found, g)
        assert found.tolist() == expected.tolist()


LIMITS = [
    "np.finfo(np.float32).max", "np.finfo('f8').eps", "np.finfo(float).tiny", "np.iinfo(np.int32).max",
    "np.iinfo('u1').min", "np.iinfo(KIND).max", "np.finfo(np.float16).max",
    "-np.finfo(np.float64).max + x[0]", "np.iinfo(np.int16).bits", "max(-np.finfo(np.float64).max, x[0])",
]  # fmt: skip
KIND = np.dtype("int64")


@pytest.mark.parametrize("text", LIMITS)
def test_limits_of_types(text, tmp_path) -> None:
    f = fresh(f"@parpy.jit\ndef f(x):\n    return {text}\n", tmp_path, KIND=KIND)
    x = np.array([2.5, 1.0])
    for backend in (parpy.CompileBackend.Cpu, parpy.CompileBackend.Sim):
        found = f(x, opts=parpy.CompileOptions(backend=backend))
        want = eval(text, {"np": np, "KIND": KIND, "x": x})
        assert found == want and np.asarray(found).dtype == np.asarray(want).dtype


def test_limits_of_a_type_that_has_none(tmp_path) -> None:
    f = fresh("@parpy.jit\ndef f(x):\n    return np.finfo(np.int32).max + x[0]\n", tmp_path)
    with pytest.raises(parpy.CompileError, match="'finfo' cannot be compiled"):
        f(np.ones(2), opts=CPU)
