"""The functions with a lowering of their own, found by the identity of the object under any name.

One table from object to Intrinsic: Python's builtins, `math`, `cmath`, NumPy's ufuncs and scalar types, `parpy.math`
and `parpy.builtin`. frontend/languages.py says which function lowers each.
"""

from __future__ import annotations

import builtins
import cmath
import math
import operator
from collections.abc import Iterator
from functools import cache
from types import BuiltinMethodType
from typing import Any, NamedTuple

import numpy as np

from ... import math as parpy_math
from ...vocabulary import device, operators, reductions, workers
from ...vocabulary.device import DeviceFunction
from .other_libraries import twin_in_numpy


class Intrinsic(NamedTuple):
    """The lowering of the calls of one object."""

    name: str  # the name in messages
    lowering: str  # the key of a row of INTRINSICS in languages.py
    op: str  # the operator or scalar type, if the lowering needs one
    least: int  # the least and, next, the most number of positional arguments
    most: int
    keywords: tuple[str, ...] = ()
    effect: bool = False  # whether a call has effects besides its result

    @staticmethod
    def of(function: DeviceFunction) -> Intrinsic:
        f = function
        return Intrinsic(f"cuda.{f.name}", f.lowering, f.op, f.least, f.most, f.keywords, f.effect)


_MANY = 255
TUPLE_METHODS = ("count", "index")
_REDUCED = {"+": "sum", "*": "prod", "maximum": "max", "minimum": "min"}  # the reductions of ufuncs' method `reduce`

# By the name in NumPy, the operator, whose rule gives the result type.
_UFUNCS = {
    1: {
        "absolute": "abs", "fabs": "fabs", "negative": "neg", "positive": "pos", "sqrt": "sqrt",
        "cbrt": "cbrt", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log",
        "log2": "log2", "log10": "log10", "log1p": "log1p", "sin": "sin", "cos": "cos",
        "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "sinh": "sinh",
        "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh",
        "arctanh": "atanh", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint",
        "fix": "trunc", "sign": "sign", "square": "square", "reciprocal": "reciprocal",
        "degrees": "degrees", "rad2deg": "degrees", "radians": "radians", "deg2rad": "radians",
        "isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite", "signbit": "signbit",
        "invert": "~", "logical_not": "not", "conjugate": "conj", "real": "real", "imag": "imag",
    },
    2: {
        "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//",
        "remainder": "%", "power": "**", "fmod": "fmod", "arctan2": "atan2", "hypot": "hypot",
        "copysign": "copysign", "nextafter": "nextafter", "minimum": "minimum",
        "maximum": "maximum", "fmin": "fmin", "fmax": "fmax", "bitwise_and": "&",
        "bitwise_or": "|", "bitwise_xor": "^", "left_shift": "<<", "right_shift": ">>",
        "equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">",
        "greater_equal": ">=", "gcd": "gcd", "lcm": "lcm",
    },
}  # fmt: skip

# By the name in Python's math, the operator; operands are converted to Python floats.
_MATH = {
    1: {
        "sqrt": "sqrt", "cbrt": "cbrt", "exp": "exp", "exp2": "exp2", "expm1": "expm1",
        "log2": "log2", "log10": "log10", "log1p": "log1p", "sin": "sin", "cos": "cos",
        "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan", "sinh": "sinh",
        "cosh": "cosh", "tanh": "tanh", "asinh": "asinh", "acosh": "acosh", "atanh": "atanh",
        "erf": "erf", "erfc": "erfc", "gamma": "gamma", "lgamma": "lgamma", "fabs": "abs",
        "degrees": "degrees", "radians": "radians", "isnan": "isnan", "isinf": "isinf",
        "isfinite": "isfinite",
    },
    2: {
        "pow": "**", "fmod": "fmod", "atan2": "atan2", "copysign": "copysign",
        "nextafter": "nextafter",
    },
    3: {"fma": "fma"},
}  # fmt: skip


# By the name in Python's module operator, the operator.
_OPERATORS = {
    1: {"neg": "neg", "pos": "pos", "invert": "~", "not_": "not", "abs": "abs", "truth": "truth", "index": "as_index"},
    2: {
        "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "lshift": "<<",
        "rshift": ">>", "and_": "&", "or_": "|", "xor": "^", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">",
        "ge": ">=", "matmul": "matmul",
    },
}  # fmt: skip


@cache
def table() -> dict[int, tuple[Any, Intrinsic]]:
    """By the id of an object, the object itself, which this keeps alive, and its lowering."""
    return {id(known): (known, intrinsic) for known, intrinsic in _rows()}


def intrinsic_of(found: object) -> Intrinsic | None:
    """The lowering of calls of `found`; None if it has none."""
    row = table().get(id(found))
    if row is not None:
        return row[1]
    if isinstance(found, BuiltinMethodType) and isinstance(found.__self__, np.ufunc):
        return _method_of_ufunc(found.__self__, found.__name__)
    if isinstance(found, BuiltinMethodType) and type(found.__self__) is tuple and found.__name__ in TUPLE_METHODS:
        return Intrinsic(found.__name__, "tuple_method", found.__name__, 1, 1)
    if isinstance(found, type) and issubclass(found, np.generic):
        scalar = operators.scalar_name(found)
        if scalar is not None:
            return Intrinsic(f"np.{found.__name__}", "convert", scalar, 1, 1)
    if not isinstance(found, type) and (scalar := operators.scalar_name(found)) is not None:
        return Intrinsic(str(found), "convert", scalar, 1, 1)
    twin = twin_in_numpy(found)
    return None if twin is None else intrinsic_of(twin)


def _method_of_ufunc(ufunc: np.ufunc, method: str) -> Intrinsic | None:
    """np.add.outer, np.add.reduce"""
    own = intrinsic_of(ufunc)
    if own is None or own.lowering != "ufunc" or own.least != 2:
        return None
    if method == "outer":
        return Intrinsic(f"{own.name}.outer", "outer", own.op, 2, 2)
    if method == "reduce" and own.op in _REDUCED:
        return Intrinsic(f"{own.name}.reduce", "reduce_first", _REDUCED[own.op], 1, 2, ("axis", "keepdims"))
    return None


def _rows() -> Iterator[tuple[Any, Intrinsic]]:
    yield from _builtin_rows()
    for count, names in _OPERATORS.items():
        for name, op in names.items():
            yield getattr(operator, name), Intrinsic(f"operator.{name}", "op", op, count, count)
    yield from _math_rows()
    yield from _cmath_rows()
    # parpy.math comes before NumPy, because most of its functions are NumPy's own, which are listed there.
    for name in ("erf", "erfc", "gamma", "lgamma"):
        yield getattr(parpy_math, name), Intrinsic(f"parpy.math.{name}", "ufunc", name, 1, 1)
    yield operators.maximum, Intrinsic("maximum", "ufunc", "maximum", 2, 2)
    yield operators.minimum, Intrinsic("minimum", "ufunc", "minimum", 2, 2)
    yield operators.convert, Intrinsic("convert", "convert_to", "", 2, 2)
    yield operators.inline, Intrinsic("inline", "inline", "", 1, 1)
    yield operators.static_backend_eq, Intrinsic("static_backend_eq", "backend_is", "", 1, 1)
    yield operators.static_types_eq, Intrinsic("static_types_eq", "types_equal", "", 2, 2)
    yield operators.static_fail, Intrinsic("static_fail", "static_fail", "", 1, 1)
    yield operators.label, Intrinsic("parpy.label", "misplaced_label", "", 0, _MANY)
    yield from _reduction_rows()
    yield from _numpy_rows()
    for function in device.FUNCTIONS:
        yield function, Intrinsic.of(function)


def _builtin_rows() -> Iterator[tuple[Any, Intrinsic]]:
    yield builtins.abs, Intrinsic("abs", "op", "abs", 1, 1)
    yield builtins.min, Intrinsic("min", "extreme", "min", 1, _MANY, ("key",))
    yield builtins.max, Intrinsic("max", "extreme", "max", 1, _MANY, ("key",))
    yield builtins.sum, Intrinsic("sum", "sum", "", 1, 2, ("start",))
    yield builtins.any, Intrinsic("any", "truths", "", 1, 1)
    yield builtins.all, Intrinsic("all", "truths", "", 1, 1)
    yield builtins.pow, Intrinsic("pow", "power", "**", 2, 3)
    yield builtins.round, Intrinsic("round", "round", "", 1, 2, ("ndigits",))
    yield builtins.int, Intrinsic("int", "op", "int", 1, 1)
    yield builtins.bool, Intrinsic("bool", "op", "truth", 1, 1)
    yield builtins.float, Intrinsic("float", "float", "float", 1, 1)
    yield builtins.complex, Intrinsic("complex", "complex", "complex", 1, 2)
    yield builtins.isinstance, Intrinsic("isinstance", "isinstance", "", 2, 2)
    yield builtins.len, Intrinsic("len", "len", "", 1, 1)
    yield builtins.divmod, Intrinsic("divmod", "pair", "divmod", 2, 2)
    yield builtins.range, Intrinsic("range", "misplaced_range", "", 0, _MANY)
    yield workers.prange, Intrinsic("prange", "misplaced_range", "", 0, _MANY)
    yield workers.range, Intrinsic("range", "misplaced_range", "", 0, _MANY, ("parallel", "simd"))
    yield workers.vidx, Intrinsic("vidx", "vidx", "", 2, 3, ("start", "stepsize", "bound"))


def _math_rows() -> Iterator[tuple[Any, Intrinsic]]:
    for count, names in _MATH.items():
        for name, op in names.items():
            if hasattr(math, name):  # Python has cbrt and exp2 since 3.11, and fma since 3.13
                yield getattr(math, name), Intrinsic(f"math.{name}", "float_op", op, count, count)
    for name in ("floor", "ceil", "trunc"):
        yield getattr(math, name), Intrinsic(f"math.{name}", "whole", name, 1, 1)
    yield math.log, Intrinsic("math.log", "log", "log", 1, 2)
    tolerances = ("rel_tol", "abs_tol")
    yield math.isclose, Intrinsic("math.isclose", "composed", "isclose", 2, 2, tolerances)
    for name, count in (("isqrt", 1), ("ldexp", 2), ("remainder", 2), ("ulp", 1)):
        yield getattr(math, name), Intrinsic(f"math.{name}", "composed", name, count, count)
    for name in ("frexp", "modf"):
        yield getattr(math, name), Intrinsic(f"math.{name}", "pair", name, 1, 1)
        yield getattr(np, name), Intrinsic(f"np.{name}", "pair", f"np_{name}", 1, 1)
    yield math.factorial, Intrinsic("math.factorial", "counted", "factorial", 1, 1)
    yield math.perm, Intrinsic("math.perm", "counted", "perm", 1, 2)
    yield math.comb, Intrinsic("math.comb", "counted", "comb", 2, 2)
    yield math.dist, Intrinsic("math.dist", "dist", "", 2, 2)
    yield math.prod, Intrinsic("math.prod", "prod", "", 1, 1)
    yield math.hypot, Intrinsic("math.hypot", "float_fold", "hypot", 1, _MANY)
    yield math.gcd, Intrinsic("math.gcd", "index_fold", "gcd", 2, _MANY)
    yield math.lcm, Intrinsic("math.lcm", "index_fold", "lcm", 2, _MANY)


# The functions of Python's cmath; operands are converted to Python's complex numbers.
_CMATH = (
    "exp", "sqrt", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh",
    "atanh", "isnan", "isinf", "isfinite",
)  # fmt: skip


def _cmath_rows() -> Iterator[tuple[Any, Intrinsic]]:
    for name in _CMATH:
        yield getattr(cmath, name), Intrinsic(f"cmath.{name}", "complex_op", name, 1, 1)
    yield cmath.phase, Intrinsic("cmath.phase", "composed", "complex_phase", 1, 1)
    yield cmath.log, Intrinsic("cmath.log", "composed", "complex_log", 1, 2)
    yield cmath.rect, Intrinsic("cmath.rect", "composed", "complex_rect", 2, 2)
    yield cmath.polar, Intrinsic("cmath.polar", "pair", "polar", 1, 1)


REDUCTIONS = ("sum", "prod", "min", "max", "any", "all", "mean")
DEVIATIONS = ("var", "std")
DEVIATION_KEYWORDS = ("axis", "keepdims", "ddof")


def _reduction_rows() -> Iterator[tuple[Any, Intrinsic]]:
    for name in REDUCTIONS:
        keywords = ("axis", "keepdims")
        yield getattr(reductions, name), Intrinsic(f"parpy.{name}", "reduce", name, 1, 3, keywords)
        yield getattr(np, name), Intrinsic(f"np.{name}", "reduce", name, 1, 2, keywords)
    for name, same in (("amax", "max"), ("amin", "min")):
        yield getattr(np, name), Intrinsic(f"np.{name}", "reduce", same, 1, 2, ("axis", "keepdims"))
    for name in ("ptp", "count_nonzero"):
        yield getattr(np, name), Intrinsic(f"np.{name}", name, "", 1, 2, ("axis", "keepdims"))
    for name in DEVIATIONS:
        yield getattr(np, name), Intrinsic(f"np.{name}", "deviation", name, 1, 2, DEVIATION_KEYWORDS)


def _numpy_rows() -> Iterator[tuple[Any, Intrinsic]]:
    for count, names in _UFUNCS.items():
        for name, op in names.items():
            of_part = op in ("real", "imag")  # these keep the type of the number's parts
            lowering = "fabs" if op == "fabs" else "op" if of_part else "ufunc"
            yield getattr(np, name), Intrinsic(f"np.{name}", lowering, op, count, count)
    for name, method, count in (
        ("ldexp", "np_ldexp", 2), ("logaddexp", "logaddexp", 2), ("logaddexp2", "logaddexp2", 2),
        ("heaviside", "heaviside", 2), ("float_power", "float_power", 2), ("bitwise_count", "bitwise_count", 1),
        ("spacing", "spacing", 1),
    ):  # fmt: skip
        if hasattr(np, name):  # NumPy has bitwise_count since version 2
            yield getattr(np, name), Intrinsic(f"np.{name}", "composed", method, count, count)
    for name in ("round", "around"):
        yield getattr(np, name), Intrinsic(f"np.{name}", "round", "numpy", 1, 2, ("decimals",))
    yield np.logical_and, Intrinsic("np.logical_and", "logical", "and", 2, 2)
    yield np.logical_or, Intrinsic("np.logical_or", "logical", "or", 2, 2)
    yield np.logical_xor, Intrinsic("np.logical_xor", "logical", "!=", 2, 2)
    yield np.where, Intrinsic("np.where", "where", "select", 3, 3)
    yield np.matmul, Intrinsic("np.matmul", "op", "matmul", 2, 2)
    yield np.dot, Intrinsic("np.dot", "dot", "matmul", 2, 2)
    for name in ("zeros", "ones", "empty"):
        yield getattr(np, name), Intrinsic(f"np.{name}", "filled", name, 1, 2, ("dtype",))
        like = getattr(np, f"{name}_like")
        yield like, Intrinsic(f"np.{name}_like", "filled", f"{name}_like", 1, 2, ("dtype",))
    yield np.ndarray, Intrinsic("np.ndarray", "filled", "empty", 1, 2, ("dtype",))
    yield np.full, Intrinsic("np.full", "filled", "full", 2, 3, ("dtype",))
    yield np.full_like, Intrinsic("np.full_like", "filled", "full_like", 2, 3, ("dtype",))
    for name in ("shape", "ndim"):
        yield getattr(np, name), Intrinsic(f"np.{name}", "attribute", name, 1, 1)
    yield np.size, Intrinsic("np.size", "size", "", 1, 2, ("axis",))
    yield np.expand_dims, Intrinsic("np.expand_dims", "expanded", "", 1, 2, ("axis",))
    for name, keyword, most in (("transpose", "axes", 2), ("reshape", "shape", 2), ("ravel", "", 1)):
        keywords = (keyword,) if keyword else ()
        yield getattr(np, name), Intrinsic(f"np.{name}", "axes", name, 1, most, keywords)
    yield np.array, Intrinsic("np.array", "listed", "", 1, 2, ("dtype",))
    yield np.copy, Intrinsic("np.copy", "copy", "", 1, 1)
    yield np.outer, Intrinsic("np.outer", "outer", "*", 2, 2)
    yield np.clip, Intrinsic("np.clip", "clip", "", 1, 3, ("a_min", "a_max", "min", "max"))
    yield np.divmod, Intrinsic("np.divmod", "pair", "np_divmod", 2, 2)
    for name in (
        "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
        "float16", "float32", "float64", "complex64", "complex128",
    ):  # fmt: skip
        found = getattr(np, name)
        scalar = operators.scalar_name(found)
        assert scalar is not None
        yield found, Intrinsic(f"np.{found.__name__}", "convert", scalar, 1, 1)
