"""`parpy.builtin.convert` run by the interpreter (seq=True) beside compiled code and NumPy: every pair of types."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import parpy
from backends import TARGETS, run
from operators import ALL_REAL, COMPLEX, FLOATS, INTEGERS, edge_values, function, quiet
from parpy.builtin import convert
from parpy.types import BF16

FAR = [127.5, 128.0, 255.9, -128.9, 256.0, 32768.0, 65536.5, 2.0**31, -(2.0**31) - 1, 3e9, 2.0**32, 5e9, -5e9, 2.0**63]
FAR += [1.5 * 2.0**63, 2.0**64, -(2.0**63), 1e300, -1e300]
PAIRS = [*itertools.product(ALL_REAL, ALL_REAL), *itertools.product([*ALL_REAL, *COMPLEX], COMPLEX)]
PAIRS += [(given, "bool") for given in COMPLEX]


def values(dtype: str) -> np.ndarray:
    edges = edge_values(dtype)
    return np.concatenate([edges, quiet(lambda: np.array(FAR).astype(dtype))]) if dtype in FLOATS else edges


def same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Whether the bits are equal, or both are NaN; complex numbers are compared by parts."""
    assert a.dtype == b.dtype
    if a.dtype.kind == "c":
        return same(a.real.copy(), b.real.copy()) & same(a.imag.copy(), b.imag.copy())
    bits = f"u{a.dtype.itemsize}"
    return (a.view(bits) == b.view(bits)) | ((a != a) & (b != b))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize(("given", "wanted"), PAIRS, ids="-".join)
def test_interpreted_is_compiled(given: str, wanted: str, backend: str) -> None:
    x = values(given)
    kernel = function(f"parpy.builtin.convert(x[i], np.{np.dtype(wanted).type.__name__})", 1)
    compiled, interpreted = np.zeros(x.size, wanted), np.zeros(x.size, wanted)
    run(backend, kernel, (x, compiled, x.size), {"n": 64})
    kernel(x, interpreted, x.size, seq=True)
    wrong = np.flatnonzero(~same(compiled, interpreted))
    assert not wrong.size, [(x[k], compiled[k], interpreted[k]) for k in wrong]
    assert convert(x, np.dtype(wanted)).tobytes() == interpreted.tobytes()


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("given", ALL_REAL)
def test_bfloat16_is_rounded_once(given: str, backend: str) -> None:
    x = values(given)
    if given == "float64":
        ties = np.array([1 + 2.0**-8, 1 + 2.0**-8 + 2.0**-40, 1 + 3 * 2.0**-8 - 2.0**-45, -1 - 2.0**-8 - 2.0**-50])
        x = np.concatenate([x, ties, [3.4e38, -3.4e38, 1e-41 * (1 + 1e-12)]])
    kernel = function("parpy.builtin.convert(x[i], BF16)", 1)
    kernel.__wrapped__.__globals__["BF16"] = BF16
    compiled, interpreted = np.zeros(x.size, np.float32), np.zeros(x.size, np.float32)
    run(backend, kernel, (x, compiled, x.size), {"n": 64})
    quiet(lambda: kernel(x, interpreted, x.size, seq=True))
    wrong = np.flatnonzero(~same(compiled, interpreted))
    assert not wrong.size, [(x[k], compiled[k], interpreted[k]) for k in wrong]


def test_integers_of_floats_are_those_of_numpy() -> None:
    """NumPy's array loops, if they convert floats as x86-64 does: not to types wider than 32 bits from halves."""
    for wanted in INTEGERS:
        x = np.array([-1.0, 127.0, 128.0, 300.7, -300.7, 70000.0])
        assert convert(x, np.dtype(wanted)).tolist() == quiet(x.astype, wanted).tolist()
    assert convert(np.inf, np.int8) == 0 and convert(np.nan, np.int32) == -(2**31) and convert(300.0, np.uint8) == 44


def test_what_has_no_conversion() -> None:
    with pytest.raises(TypeError, match="a complex128 cannot become a int32; take the real part"):
        convert(1j, np.int32)
    with pytest.raises(parpy.CompileError, match="complex"):
        function("parpy.builtin.convert(x[i], np.int32)", 1)(np.ones(2, complex), np.zeros(2, np.int32), 2)
