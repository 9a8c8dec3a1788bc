"""Functions of complex numbers at infinities, NaN, zeros of either sign and near the ends of the floats: every back
end gives the value of Python's `cmath`, or NumPy's if `cmath` raises an error."""

from __future__ import annotations

import cmath
import itertools
import math
import re
import warnings

import numpy as np
import pytest

import parpy
from backends import BACKENDS, cuda_text, run
from nvrtc import cubin
from operators import function, quiet

SIZES = [0.0, 1e-300, 1e-12, 0.5, 1.0, 3.14, 709.5, 1e160, 1e308, math.inf]
PARTS = [sign * size for size in SIZES for sign in (1, -1)] + [math.nan, -math.nan]
TINY = [5e-324, -5e-324, 1e-310]
NUMBERS = np.array(
    [complex(x, y) for x, y in [*itertools.product(PARTS, repeat=2), *itertools.product(TINY, [*TINY, 0.0, -1.0])]]
)
SINGLE_SIZES = [0.0, 1e-42, 1e-30, 0.5, 1.0, 3.14, 88.5, 1e20, 3e38, math.inf]
SINGLE_PARTS = np.array([sign * size for size in SINGLE_SIZES for sign in (1, -1)] + [math.nan], np.float32)
SINGLES = np.array([complex(x, y) for x, y in itertools.product(SINGLE_PARTS, repeat=2)], np.complex64)
NAMES = ["exp", "sqrt", "log", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh"]
NAMES += ["acosh", "atanh", "phase"]
REALS = np.array([complex(r, phi) for r in PARTS for phi in PARTS])


def by_numpy(name: str, z: complex) -> complex:
    return complex(quiet(getattr(np, "angle" if name == "phase" else numpy_name(name)), np.complex128(z)))


def numpy_name(name: str) -> str:
    return re.sub(r"^a(?=sin|cos|tan)", "arc", name)


def expected(name: str, z: complex) -> tuple[complex, bool]:
    """The value, and whether it is Python's."""
    try:
        return complex(getattr(cmath, name)(z)), True
    except (ValueError, OverflowError):
        return by_numpy(name, z), False


def same_bits(got: float, want: float) -> bool:
    return (math.isnan(got) and math.isnan(want)) or (got == want and math.copysign(1, got) == math.copysign(1, want))


def agrees(got: complex, want: complex, tolerance: float, least: float, strict: bool) -> bool:
    """Whether finite parts are close and others equal. Without `strict` the sign of an infinity or a zero beside a NaN
    is free, as in C."""
    loose = not strict and (math.isnan(want.real) or math.isnan(want.imag))
    for a, b in ((got.real, want.real), (got.imag, want.imag)):
        if same_bits(a, b) or (loose and abs(a) == abs(b)):
            continue
        if not (math.isfinite(a) and math.isfinite(b)) or math.copysign(1, a) != math.copysign(1, b):
            return False
        if abs(a - b) > tolerance * abs(b) + least:
            return False
    return True


def differing(name, given, out, tolerance, least, of=expected, rounded=complex):
    wrong = []
    for z, got in zip(given.tolist(), out.tolist(), strict=True):
        want, strict = of(name, z)
        if not agrees(complex(got), rounded(want), tolerance, least, strict):
            wrong.append(f"{name}{z}: {got}, want {want}")
    return wrong


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", NAMES)
def test_double_precision(name: str, backend: str) -> None:
    out = np.zeros(len(NUMBERS), float if name == "phase" else complex)
    run(backend, function(f"cmath.{name}(x[i])", 1), (NUMBERS, out, len(out)), {"n": 64})
    assert differing(name, NUMBERS, out, 1e-14, 5e-323) == []


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", [name for name in NAMES if name != "phase"])
def test_single_precision(name: str, backend: str) -> None:
    """Functions under NumPy's names keep the type and round once. If Python's double overflows, so does the float."""

    def rounded(value: complex) -> complex:
        return complex(quiet(np.complex64, value))

    out = np.zeros(len(SINGLES), np.complex64)
    run(backend, function(f"np.{numpy_name(name)}(x[i])", 1), (SINGLES, out, len(out)), {"n": 64})
    assert differing(name, SINGLES, out, 3e-7, 3e-45, rounded=rounded) == []


@pytest.mark.parametrize("name", [name for name in NAMES if name != "phase"])
def test_text_for_both_precisions_is_cuda(name: str) -> None:
    for numbers in (NUMBERS, SINGLES):
        out = np.zeros_like(numbers)
        cubin(cuda_text(function(f"np.{numpy_name(name)}(x[i])", 1), (numbers, out, len(out)), {"n": 64}))


@pytest.mark.parametrize("backend", BACKENDS)
def test_polar_and_rectangular(backend: str) -> None:
    def rectangular(name: str, pair: complex) -> tuple[complex, bool]:
        r, phi = pair.real, pair.imag
        try:
            return cmath.rect(r, phi), True
        except ValueError:  # an infinite angle has no sine
            return complex(math.inf if math.isinf(r) else math.nan, math.nan), False

    out = np.zeros(len(REALS), complex)
    run(backend, function("cmath.rect(x[i].real, x[i].imag)", 1), (REALS, out, len(out)), {"n": 64})
    assert differing("rect", REALS, out, 1e-14, 5e-323, of=rectangular) == []

    size = np.zeros(len(NUMBERS))
    run(backend, function("abs(x[i])", 1), (NUMBERS, size, len(size)), {"n": 64})
    assert (
        differing("abs", NUMBERS, size, 1e-15, 5e-324, of=lambda _, z: (complex(math.hypot(z.real, z.imag)), True))
        == []
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_powers(backend: str) -> None:
    """NumPy's own rules: powers with whole exponents are products, others exp(b log a)."""
    bases = np.array([complex(x, y) for x in (0.0, -0.0, 1.0, -2.5, 1e-12, 30.0) for y in (0.0, -0.0, 3.14, -1.0)])
    for exponent in (0.0, 0.5, -0.5, 2.0, 3.0, 7.0, -1.0, 1.5 + 2j):
        out = np.zeros(len(bases), complex)
        run(backend, function(f"x[i] ** complex({exponent!r})", 1), (bases, out, len(out)), {"n": 64})
        want = quiet(np.power, bases, np.complex128(exponent))
        np.testing.assert_allclose(out, want, rtol=1e-12, atol=1e-300, err_msg=str(exponent))


def test_metal_text_computes_without_doubles() -> None:
    z = np.ones(4, np.complex64)
    for name in ("sqrt", "exp", "log", "log10", "tan", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh"):
        text = parpy.print_compiled(
            function(f"np.{name}(x[i])", 1),
            (z, z.copy(), 4),
            parpy.CompileOptions(backend=parpy.CompileBackend.Metal, parallelize={"n": parpy.threads(64)}),
        )
        device = text[: text.index("---- host code")]
        assert "double" not in re.sub(r"//.*", "", device)
        for called in set(re.findall(r"\b\w+_f(?:32|64)(?=\()", device)):
            assert re.search(rf"INLINE \w+ {called}\(", device), called


def test_numbers_of_the_c_library_are_not_trusted_when_constants_are_folded() -> None:
    @parpy.jit
    def folded(out):
        with parpy.gpu:
            out[0] = cmath.sqrt(complex(-1.0, -0.0))
            out[1] = cmath.acos(complex(3.14, 0.0))
            out[2] = cmath.tanh(complex(0.0, math.nan))
            out[3] = cmath.asin(complex(-math.inf, 0.0))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = np.zeros(4, complex)
        folded(out)
    want = [cmath.sqrt(complex(-1.0, -0.0)), cmath.acos(complex(3.14, 0.0)), cmath.tanh(complex(0.0, math.nan))]
    want.append(cmath.asin(complex(-math.inf, 0.0)))
    assert all(agrees(a, b, 1e-15, 0, True) for a, b in zip(out.tolist(), want, strict=True)), (out, want)
