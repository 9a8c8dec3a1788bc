"""Operations on dates and durations as texts of operations on integers. NumPy determines the units of their results."""

from __future__ import annotations

import ast
import functools
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..calls.jit import jit_of_source
from ..library import dates
from ..syntax.names import source_of

Kind = np.dtype[Any] | None
"""The type of a date or duration; None for a number."""

_NUMBER = np.dtype(np.int64)


class NoOperationError(TypeError):
    """NumPy has no such operation for the types of the operands."""


class Value(NamedTuple):
    """An expression of integers for an expression of this type."""

    node: ast.expr
    kind: Kind


def is_date(kind: Any) -> bool:
    """Whether a NumPy type is one of dates or durations."""
    return isinstance(kind, np.dtype) and kind.kind in "mM"


def call(helper: Any, *arguments: ast.expr) -> ast.expr:
    """A call of a function of the library by the name that `helpers` gives to it."""
    return ast.Call(ast.Name(_PREFIX + helper.__name__, ast.Load()), list(arguments), [])


_PREFIX = "dates_"


@functools.cache
def helpers() -> dict[str, Any]:
    """The functions of the library by the names that texts use. They are jit functions, because kernels call no plain
    functions."""
    return {
        _PREFIX + name: jit_of_source(source_of(found))
        for name, found in vars(dates).items()
        if getattr(found, "__module__", "") == dates.__name__
    }


def constant(value: np.datetime64 | np.timedelta64) -> Value:
    """A date or duration that is known when the function is compiled."""
    number = int(value.view(np.int64))
    node: ast.expr = ast.Constant(abs(number) if not np.isnat(value) else 2**63 - 1)
    if number < 0:
        node = ast.UnaryOp(ast.USub(), node)
    if np.isnat(value):
        node = ast.BinOp(node, ast.Sub(), ast.Constant(1))
    return Value(node, value.dtype)


# ------------------------------------------------------------ units

_SECONDS = {unit: Fraction(n) for unit, n in (("W", 604800), ("D", 86400), ("h", 3600), ("m", 60), ("s", 1))}
_SECONDS.update((unit, Fraction(1, 1000**power)) for power, unit in enumerate(("ms", "us", "ns", "ps", "fs", "as"), 1))
_MONTHS = {"Y": 12, "M": 1}


def converted(value: Value, wanted: Kind) -> ast.expr:
    """The value in another unit, or a number as a duration. Raises TypeError if there is no such conversion."""
    node, kind = value
    if wanted is None:
        if kind is not None:
            raise TypeError(f"{kind} is used as a number; convert it with astype or int")
        return node
    if kind is None:
        if wanted.kind == "M":
            raise TypeError(f"a number is used as {wanted}; write np.datetime64(number, unit)")
        return call(dates.whole, node)
    if kind.kind != wanted.kind:
        raise TypeError(f"{kind} is used as {wanted}")
    (unit, count), (other, size) = np.datetime_data(kind), np.datetime_data(wanted)
    if "generic" in (unit, other) or kind == wanted:
        return node
    if unit in _MONTHS and other in _MONTHS:
        return _scaled(node, Fraction(count * _MONTHS[unit], size * _MONTHS[other]))
    if unit in _SECONDS and other in _SECONDS:
        return _scaled(node, count * _SECONDS[unit] / (size * _SECONDS[other]))
    if kind.kind == "m":
        raise TypeError(f"Cannot cast from {kind} to {wanted}: months have no fixed length")
    if unit in _MONTHS:
        days = call(dates.days_of_months, _scaled(node, Fraction(count * _MONTHS[unit])))
        return _scaled(days, _SECONDS["D"] / (size * _SECONDS[other]))
    months = call(dates.months_of_days, _scaled(node, count * _SECONDS[unit] / _SECONDS["D"]))
    return _scaled(months, Fraction(1, size * _MONTHS[other]))


def _scaled(node: ast.expr, factor: Fraction) -> ast.expr:
    if factor.numerator != 1:
        node = call(dates.finer, node, ast.Constant(factor.numerator))
    if factor.denominator != 1:
        node = call(dates.coarser, node, ast.Constant(factor.denominator))
    return node


def common(a: Kind, b: Kind) -> Kind:
    """The type of a variable that has values of both types. Raises TypeError if there is none."""
    if a is None or b is None:
        found = a if b is None else b
        if found is not None and found.kind == "M":
            raise TypeError(f"a variable or a result is both a number and {found}")
        return found
    if a.kind != b.kind:
        raise TypeError(f"a variable or a result is both {a} and {b}")
    return np.promote_types(a, b)


# ------------------------------------------------------------ functions

_BINARY: dict[Any, Any] = {
    np.add: dates.added, np.subtract: dates.subtracted, np.less: dates.less, np.less_equal: dates.less_equal,
    np.equal: dates.equal, np.not_equal: dates.not_equal, np.maximum: dates.maximum, np.minimum: dates.minimum,
    np.fmax: dates.fmax, np.fmin: dates.fmin, np.remainder: dates.remainder,
}  # fmt: skip
_OF_NUMBER: dict[Any, Any] = {np.multiply: dates.times, np.divide: dates.divided, np.floor_divide: dates.divided}
_RATIOS: dict[Any, Any] = {np.divide: dates.ratio, np.floor_divide: dates.whole_ratio}
_SWAPPED: dict[Any, Any] = {np.greater: np.less, np.greater_equal: np.less_equal}
_UNARY: dict[Any, Any] = {
    np.negative: dates.negated,
    np.absolute: dates.absolute,
    np.sign: dates.sign,
    np.isnat: dates.isnat,
}
_PYTHON: dict[Any, Any] = {max: dates.greater_of, min: dates.lesser_of}

OPERATORS: dict[type, Any] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide, ast.FloorDiv: np.floor_divide,
    ast.Mod: np.remainder, ast.Lt: np.less, ast.LtE: np.less_equal, ast.Gt: np.greater, ast.GtE: np.greater_equal,
    ast.Eq: np.equal, ast.NotEq: np.not_equal, ast.USub: np.negative, ast.UAdd: np.positive,
}  # fmt: skip
"""NumPy's functions for the operators that dates and durations have."""


def combined(function: Any, *values: Value) -> Value:
    """The result of a function of NumPy, or of Python's ``abs``, ``max`` or ``min``, for these operands. Raises
    TypeError as NumPy does, and for functions without dates."""
    if function in _PYTHON:
        return _extreme(function, values)
    function = {abs: np.absolute}.get(function, function)
    if function in _SWAPPED:
        function, values = _SWAPPED[function], values[::-1]
    if not isinstance(function, np.ufunc) or len(values) != function.nin:
        raise TypeError(f"'{getattr(function, '__name__', function)}' is not supported for dates and durations")
    try:
        kinds = function.resolve_dtypes((*(each.kind or _NUMBER for each in values), None))
    except TypeError as error:
        raise NoOperationError(str(error)) from None
    nodes = [_operand(each, kind) for each, kind in zip(values, kinds, strict=False)]
    result = kinds[-1] if is_date(kinds[-1]) else None
    if function is np.positive:
        return Value(nodes[0], result)
    if len(values) == 1:
        return Value(call(_found(_UNARY, function), *nodes), result)
    if function in _OF_NUMBER and not (is_date(kinds[0]) and is_date(kinds[1])):
        duration, number = nodes if is_date(kinds[0]) else nodes[::-1]
        return Value(call(_OF_NUMBER[function], duration, number), result)
    return Value(call(_RATIOS.get(function) or _found(_BINARY, function), *nodes), result)


def _operand(value: Value, kind: np.dtype[Any]) -> ast.expr:
    return converted(value, kind) if is_date(kind) else value.node


def _found(table: dict[Any, Any], function: np.ufunc) -> Any:
    if function not in table:
        raise TypeError(f"'{function.__name__}' is not supported for dates and durations")
    return table[function]


def _extreme(function: Any, values: tuple[Value, ...]) -> Value:
    if len(values) < 2:
        raise TypeError(f"'{function.__name__}' is not supported for dates and durations")
    first, *rest = values
    for each in rest:
        kind = common(first.kind, each.kind)
        first = Value(call(_PYTHON[function], converted(first, kind), converted(each, kind)), kind)
    return first
