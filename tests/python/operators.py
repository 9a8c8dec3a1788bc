"""The operator × dtype × edge-value matrix: every operator of the language against NumPy, on every backend.

`cases()` yields the matrix; `test_operators.py` runs it on the interpreter, the CPU and, if there is one, the GPU.
Exact operators must agree bit for bit (any NaN equals any NaN). Elementary functions are compared with the function in
the next wider type and may differ by the `ulp` of the case.
"""

from __future__ import annotations

import linecache
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

import parpy

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
ALL_REAL = ["bool", *INTEGERS, *FLOATS]


def edge_values(dtype: str) -> np.ndarray:
    kind = np.dtype(dtype)
    if kind == np.bool_:
        return np.array([False, True])
    if kind.kind in "iu":
        info = np.iinfo(kind)
        wanted = [-13, -7, -1, 0, 1, 2, 3, 4, 7, 13, 63, 64, 100, info.min, info.min + 1, info.max - 1, info.max]
        return np.array(sorted({v for v in wanted if info.min <= v <= info.max}), dtype=kind)
    if kind.kind == "f":
        info = np.finfo(kind)
        values = [
            -13,
            -2.5,
            -1,
            -0.5,
            -0.0,
            0.0,
            0.5,
            1,
            1.5,
            2.5,
            4,
            7.25,
            13,
            np.nan,
            np.inf,
            -np.inf,
            float(info.tiny),
            float(info.smallest_subnormal),
            -float(info.smallest_subnormal),
            float(info.max),
            -float(info.max),
            float(info.eps),
        ]
        return np.array(values, dtype=kind)
    real = [-13.0, -1.0, -0.0, 0.0, 0.5, 4.0, np.inf]
    return np.array([complex(a, b) for a in real for b in real], dtype=kind)


def pairs(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.meshgrid(a, b, indexing="ij")
    return x.ravel().copy(), y.ravel().copy()


@dataclass(frozen=True)
class Case:
    name: str
    expression: str  # of x[i], y[i]
    dtypes: tuple[str, ...]  # of the operands
    reference: Callable[..., np.ndarray]  # of the operand arrays
    ulp: float = 0.0  # 0: bit for bit
    # The elements for which the answer is defined; others are not compared.
    defined: Callable[..., np.ndarray] | None = None

    def __str__(self) -> str:
        return f"{self.name}-{'-'.join(self.dtypes)}"


def function(expression: str, operands: int) -> Callable[..., None]:
    """A decorated loop `out[i] = expression`; linecache knows its source, as that of a notebook cell."""
    names = ["x", "y", "z"][:operands]
    source = (
        f"@parpy.jit\ndef kernel({', '.join(names)}, out, n):\n    parpy.label('n')\n"
        f"    for i in range(n):\n        out[i] = {expression}\n"
    )
    filename = f"<operator {expression}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace: dict = {"parpy": parpy, "np": np, "math": __import__("math"), "cmath": __import__("cmath")}
    exec(compile(source, filename, "exec"), namespace)
    return namespace["kernel"]


def quiet(reference: Callable[..., np.ndarray], *arrays: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return np.asarray(reference(*arrays))


def _not_both_zero(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """NumPy's own loops (float16 and the others) differ in which zero is the smaller one."""
    return (x != 0) | (y != 0)


def _as_arrays(x: np.ndarray) -> np.ndarray:
    """The elements that NumPy's scalar and vector loops convert alike, above all to uint32."""
    finite = np.isfinite(x) | (x.dtype != np.float16)
    return finite & (~(np.abs(x.astype(np.float64)) >= 2**31) | (x > 0))


def _of_math(name: str, out: type = float) -> Callable[..., np.ndarray]:
    """Python's function, element by element; NaN for a ValueError, infinite for an OverflowError."""
    function = getattr(math, name)

    def at(*values: float) -> float:
        try:
            return out(function(*values))
        except ValueError:
            return np.nan if out is float else 0
        except OverflowError:
            return math.copysign(math.inf, values[0])

    def apply(*arrays: np.ndarray) -> np.ndarray:
        return np.array([at(*values) for values in zip(*(a.tolist() for a in arrays), strict=True)])

    return apply


def _float_power(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.float_power(x.astype(np.float64), y.astype(np.float64))


def _without_cancellation(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The elements for which the logarithm of the sum is not small against the operands."""
    x, y = x.astype(np.longdouble), y.astype(np.longdouble)
    return ~(quiet(lambda: np.abs(np.logaddexp(x, y))) < np.maximum(np.abs(x), np.abs(y)) / 2)


def _power(x: np.ndarray, exponent: int) -> np.ndarray:
    """The power by the ufunc: ** of an array and a Python number uses special cases that ** of numbers does not."""
    return np.power(x, np.full_like(x, exponent))


def cases() -> Iterator[Case]:
    numbers = [*INTEGERS, *FLOATS]
    for dtype in numbers:
        two = (dtype, dtype)
        for name, symbol, ufunc in [
            ("add", "+", np.add),
            ("sub", "-", np.subtract),
            ("mul", "*", np.multiply),
            ("div", "/", np.divide),
            ("floordiv", "//", np.floor_divide),
            ("mod", "%", np.remainder),
        ]:
            yield Case(name, f"x[i] {symbol} y[i]", two, ufunc)
        for name, symbol, ufunc in [
            ("eq", "==", np.equal),
            ("ne", "!=", np.not_equal),
            ("lt", "<", np.less),
            ("le", "<=", np.less_equal),
            ("gt", ">", np.greater),
            ("ge", ">=", np.greater_equal),
        ]:
            yield Case(name, f"x[i] {symbol} y[i]", two, ufunc)
        yield Case("neg", "-x[i]", (dtype,), np.negative)
        yield Case("abs", "abs(x[i])", (dtype,), np.abs)
        yield Case("min", "min(x[i], y[i])", two, lambda a, b: np.where(b < a, b, a))
        yield Case("max", "max(x[i], y[i])", two, lambda a, b: np.where(b > a, b, a))
        yield Case("minimum", "np.minimum(x[i], y[i])", two, np.minimum, defined=_not_both_zero)
        yield Case("maximum", "np.maximum(x[i], y[i])", two, np.maximum, defined=_not_both_zero)
        yield Case("fmod", "np.fmod(x[i], y[i])", two, np.fmod)
        yield Case("sign", "np.sign(x[i])", (dtype,), np.sign)
        yield Case("square", "np.square(x[i])", (dtype,), np.square)
        yield Case("select", "x[i] if x[i] < y[i] else y[i]", two, lambda a, b: np.where(a < b, a, b))
        yield Case("truth", "1 if x[i] else 0", (dtype,), lambda a: (a != 0).astype(np.int64))
        yield Case("not", "not x[i]", (dtype,), lambda a: a == 0)
        yield Case("chain", "x[i] < y[i] <= x[i]", two, lambda a, b: (a < b) & (b <= a))
        yield Case("weak_int", "x[i] * 3 + 1", (dtype,), lambda a: a * 3 + 1)
        yield Case("weak_float", "x[i] * 2.5", (dtype,), lambda a: a * 2.5)
        yield Case("weak_div", "x[i] / 3", (dtype,), lambda a: a / 3)
        yield Case("weak_floordiv", "x[i] // 3", (dtype,), lambda a: a // 3)
        yield Case("weak_mod", "x[i] % 3", (dtype,), lambda a: a % 3)
        yield Case(
            "index_mix",
            "x[i] + i",
            (dtype,),
            lambda a: a + np.arange(a.size).astype(a.dtype if a.dtype.kind != "b" else np.int64),
        )
    for dtype in ["bool", *INTEGERS]:
        two = (dtype, dtype)
        for name, symbol, ufunc in [
            ("and", "&", np.bitwise_and),
            ("or", "|", np.bitwise_or),
            ("xor", "^", np.bitwise_xor),
        ]:
            yield Case(f"bit_{name}", f"x[i] {symbol} y[i]", two, ufunc)
        yield Case("invert", "~x[i]", (dtype,), np.invert)
        if dtype != "bool":
            yield Case("shl", "x[i] << y[i]", two, np.left_shift)
            yield Case("shr", "x[i] >> y[i]", two, np.right_shift)
            yield Case(
                "pow",
                "x[i] ** np.maximum(y[i], 0)",
                two,
                lambda a, b: np.power(a, np.maximum(b, 0)),
            )
            yield Case("gcd", "np.gcd(x[i], y[i])", two, np.gcd)
            yield Case("lcm", "np.lcm(x[i], y[i])", two, np.lcm)
            yield Case("reciprocal", "np.reciprocal(x[i])", (dtype,), np.reciprocal)
    for name, symbol in [("and", "and"), ("or", "or")]:
        combine = {"and": np.logical_and, "or": np.logical_or}[name]
        yield Case(
            f"logical_{name}",
            f"x[i] > 1 {symbol} y[i] > 1",
            ("int32", "int32"),
            lambda a, b, combine=combine: combine(a > 1, b > 1),
        )
    for a in ALL_REAL:
        for b in ALL_REAL:
            if a != b:
                yield Case("mixed_add", "x[i] + y[i]", (a, b), np.add)
                yield Case("mixed_lt", "x[i] < y[i]", (a, b), np.less)
                yield Case("mixed_mul", "x[i] * y[i]", (a, b), np.multiply)
    for dtype in FLOATS:
        for name in ["floor", "ceil", "trunc", "rint", "sqrt", "isnan", "isinf", "isfinite", "signbit", "reciprocal"]:
            yield Case(name, f"np.{name}(x[i])", (dtype,), getattr(np, name))
        yield Case("copysign", "np.copysign(x[i], y[i])", (dtype, dtype), np.copysign)
        yield Case("fmin", "np.fmin(x[i], y[i])", (dtype, dtype), np.fmin, defined=_not_both_zero)
        yield Case("fmax", "np.fmax(x[i], y[i])", (dtype, dtype), np.fmax, defined=_not_both_zero)
        # NumPy has returned either zero for float16 as the neighbour of one zero towards the other.
        unequal_zeros = _not_both_zero if dtype == "float16" else None
        yield Case("nextafter", "np.nextafter(x[i], y[i])", (dtype, dtype), np.nextafter, defined=unequal_zeros)
        for to in INTEGERS:
            yield Case(f"to_{to}", f"np.{to}(x[i])", (dtype,), partial(np.ndarray.astype, dtype=to), defined=_as_arrays)
        for name, ulp in [
            ("exp", 2),
            ("exp2", 2),
            ("expm1", 2),
            ("log", 2),
            ("log2", 2),
            ("log10", 2),
            ("log1p", 2),
            ("sin", 2),
            ("cos", 2),
            ("tan", 4),
            ("arcsin", 2),
            ("arccos", 2),
            ("arctan", 2),
            ("sinh", 3),
            ("cosh", 3),
            ("tanh", 2),
            ("arcsinh", 3),
            ("arccosh", 3),
            ("arctanh", 3),
            ("cbrt", 2),
            ("degrees", 2),
            ("radians", 2),
        ]:
            yield Case(name, f"np.{name}(x[i])", (dtype,), getattr(np, name), ulp=ulp)
        for name, ulp in [("arctan2", 2), ("hypot", 2), ("power", 4)]:
            yield Case(name, f"np.{name}(x[i], y[i])", (dtype, dtype), getattr(np, name), ulp=ulp)
    for dtype in INTEGERS:
        yield Case("int_sqrt", "np.sqrt(x[i])", (dtype,), np.sqrt, ulp=1)
        yield Case("math_exp", "math.exp(x[i])", (dtype,), lambda a: np.exp(a.astype(np.float64)), ulp=2)
    for dtype in COMPLEX:
        for name, symbol, ufunc in [("add", "+", np.add), ("sub", "-", np.subtract), ("mul", "*", np.multiply)]:
            yield Case(name, f"x[i] {symbol} y[i]", (dtype, dtype), ufunc)
        yield Case("eq", "x[i] == y[i]", (dtype, dtype), np.equal)
        # Errors of parts that cancel in one back end only are small against the whole number.
        for name in ["sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh"]:
            yield Case(name, f"np.{name}(x[i])", (dtype,), getattr(np, name), ulp=8)
        yield Case("div", "x[i] / y[i]", (dtype, dtype), np.divide, ulp=8)
        yield Case("pow", "x[i] ** y[i]", (dtype, dtype), np.power, ulp=200)
        for exponent in (1, 2, 3, 5, -1, -2):
            yield Case(f"pow_{exponent}", f"x[i] ** {exponent}", (dtype,), partial(_power, exponent=exponent), ulp=200)


def composed_cases() -> Iterator[Case]:
    """Functions that are composed of others (frontend/calls/compositions.py)."""
    for dtype in ALL_REAL:
        two = (dtype, dtype)
        yield Case("heaviside", "np.heaviside(x[i], y[i])", two, np.heaviside)
        yield Case("float_power", "np.float_power(x[i], y[i])", two, _float_power, ulp=4)
        yield Case("spacing", "np.spacing(x[i])", (dtype,), np.spacing)
        yield Case("math_remainder", "math.remainder(x[i], y[i])", two, _of_math("remainder"))
        yield Case("math_ulp", "math.ulp(x[i])", (dtype,), _of_math("ulp"))
        if dtype not in FLOATS and hasattr(np, "bitwise_count"):
            yield Case("bitwise_count", "np.bitwise_count(x[i])", (dtype,), np.bitwise_count)
    for dtype in FLOATS:
        two = (dtype, dtype)
        for name in ("logaddexp", "logaddexp2"):
            reference = getattr(np, name)
            yield Case(name, f"np.{name}(x[i], y[i])", two, reference, ulp=4, defined=_without_cancellation)
        for power in ("int8", "int32", "int64"):
            yield Case("ldexp", "np.ldexp(x[i], y[i])", (dtype, power), np.ldexp)
            yield Case("math_ldexp", "math.ldexp(x[i], y[i])", (dtype, power), _of_math("ldexp"))
    for dtype in INTEGERS:
        yield Case("isqrt", "math.isqrt(x[i])", (dtype,), _of_math("isqrt", int), defined=lambda x: x >= 0)
        for other in ("int64", "uint64"):
            yield Case(
                "math_gcd",
                "math.gcd(x[i], y[i], 12)",
                (dtype, other),
                lambda a, b: _of_math("gcd", int)(a, b, np.full_like(a, 12)),
            )
    yield Case("ldexp", "np.ldexp(x[i], y[i])", ("int8", "int8"), np.ldexp)


def ulps_apart(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Distance in units of the last place of `got`'s dtype; 0 if both are NaN or the same infinity."""
    wide = np.longdouble
    with np.errstate(all="ignore"):
        spacing = np.spacing(np.maximum(np.abs(want.astype(got.dtype)), np.finfo(got.dtype).tiny)).astype(wide)
        distance = np.abs(got.astype(wide) - want.astype(wide)) / spacing
        same = (np.isnan(got) & np.isnan(want)) | (got == want.astype(got.dtype))
    return np.where(same, 0.0, np.where(np.isnan(distance), np.inf, distance)).astype(float)


def complex_apart(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Distance relative to the size of `want`; 0 if both are infinite or both have a NaN."""
    same = (np.isinf(got) & np.isinf(want)) | (np.isnan(got) & np.isnan(want)) | (got == want)
    apart = np.abs(got - want) / np.abs(want)
    return np.where(same, 0.0, np.where(np.isnan(apart), np.inf, apart))


def check(case: Case, got: np.ndarray, operands: tuple[np.ndarray, ...], want: np.ndarray) -> str | None:
    """None if `got` is right, else a line that shows the first wrong element."""
    if case.ulp and got.dtype.kind == "f":
        wider = {"e": np.float64, "f": np.float64, "d": np.longdouble}[got.dtype.char]
        exact = quiet(case.reference, *(o.astype(wider) for o in operands))
        wrong = ulps_apart(got, exact) > case.ulp
    elif case.ulp and got.dtype.kind == "c":
        wrong = quiet(complex_apart, got, want) > case.ulp * np.finfo(got.dtype).eps
    else:
        both_nan = (got != got) & (want != want)
        equal = got.view(np.uint8).reshape(got.size, -1) == want.view(np.uint8).reshape(want.size, -1)
        wrong = ~(equal.all(axis=1) | both_nan)
    if case.defined is not None:
        wrong &= case.defined(*operands)
    if not wrong.any():
        return None
    k = int(np.flatnonzero(wrong)[0])
    values = ", ".join(repr(o[k]) for o in operands)
    return f"{case.expression} at ({values}): {got[k]!r}, want {want[k]!r}; {int(wrong.sum())} of {wrong.size} wrong"
