"""Chooses the signature of a kernel for the arguments of a launch, and converts them to its types."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from enum import IntEnum
from types import FunctionType
from typing import Any

import numpy as np

from ...syntax.names import is_array
from ...vocabulary.operators import NAME_OF
from ...vocabulary.signatures import Array, Record, Scalar, Signature, TupleType
from .._arrays import DeviceNDArray, is_number

# NumPy's number types by the names that signatures have for them.
_TYPES = {"boolean": np.bool_, **{name: np.dtype(name).type for name in NAME_OF if name not in ("bool", "bfloat16")}}


class Match(IntEnum):
    """The conversion of an argument to the wanted type; the least member is the best."""

    EXACT = 0
    SAFE = 1  # the conversion keeps every value of the argument's type
    OTHER = 2


class _Misfit(Exception):
    """The reason why arguments do not fit a signature."""


def bound(function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments of a call in the order of the parameters, defaults included."""
    if not keywords and not (function.__defaults__ and len(arguments) < function.__code__.co_argcount):
        return arguments
    found = inspect.signature(function).bind(*arguments, **keywords)
    found.apply_defaults()
    return found.args


def best(function: FunctionType, signatures: tuple[Signature, ...], arguments: Sequence[Any]) -> tuple[Any, ...]:
    """The arguments converted for the best signature: the one with the fewest unsafe conversions, then with the fewest
    conversions, then the first. Raises TypeError if none fits."""
    fitting, reasons = [], []
    for each in signatures:
        try:
            fitting.append(_fit(function, each, arguments))
        except _Misfit as misfit:
            reasons.append(str(misfit))
    if fitting:
        return min(fitting, key=lambda each: each[0])[1]
    if len(reasons) == 1:
        raise TypeError(reasons[0])
    listed = "\n".join(f"  {each}: {reason}" for each, reason in zip(signatures, reasons, strict=True))
    raise TypeError(f"no signature of '{function.__name__}' takes these arguments:\n{listed}")


def _fit(
    function: FunctionType, wanted: Signature, arguments: Sequence[Any]
) -> tuple[tuple[int, int], tuple[Any, ...]]:
    """The numbers of conversions that the signature needs, worst kind first, and the converted arguments."""
    code = function.__code__
    if len(arguments) != len(wanted.arguments):
        raise _Misfit(f"'{code.co_name}' takes {len(wanted.arguments)} arguments, not {len(arguments)}")
    matches: list[Match] = []
    converted = []
    for name, kind, argument in zip(code.co_varnames, wanted.arguments, arguments, strict=False):
        converted.append(_as_argument(name, kind, argument, matches))
    return (matches.count(Match.OTHER), matches.count(Match.SAFE)), tuple(converted)


def _as_argument(name: str, kind: Any, argument: Any, matches: list[Match]) -> Any:
    """The argument converted to the type. Appends the kind of conversion, of a tuple one for each element."""
    if isinstance(kind, Record):
        if getattr(argument, "dtype", None) != kind.dtype or np.ndim(argument):
            raise _Misfit(f"argument '{name}' must be {_a(kind)}, not {type(argument).__name__}")
        matches.append(Match.EXACT)
    elif isinstance(kind, Scalar):
        match, argument = _as_number(name, kind, argument)
        matches.append(match)
    elif isinstance(kind, TupleType):
        if not isinstance(argument, tuple) or len(argument) != len(kind.parts):
            shown = f"a tuple of {len(argument)}" if isinstance(argument, tuple) else type(argument).__name__
            raise _Misfit(f"argument '{name}' must be {_a(kind)}, not {shown}")
        parts = zip(kind.parts, argument, strict=True)
        return tuple(_as_argument(f"{name}[{i}]", part, each, matches) for i, (part, each) in enumerate(parts))
    else:
        matches.append(_as_array(name, kind, argument))
    return argument


def _plain_number(to: np.dtype[Any], argument: Any) -> tuple[Match, Any] | None:
    """The fast path for numbers of the type itself and Python numbers that fit it; None for other arguments."""
    given = type(argument)
    if given is to.type:
        return Match.EXACT, argument
    if given is float and to.kind == "f":
        return Match.EXACT if to.itemsize == 8 else Match.OTHER, to.type(argument)
    if given is int and to.kind in "iu" and 0 <= argument < 1 << (8 * to.itemsize - 1):
        return Match.EXACT if to == np.int64 else Match.OTHER, to.type(argument)
    return None


def _as_number(name: str, kind: Scalar, argument: Any) -> tuple[Match, Any]:
    plain = None if kind.is_date else _plain_number(kind.dtype, argument)
    if plain is not None:
        return plain
    if is_array(argument) and not isinstance(argument, np.generic) and getattr(argument, "ndim", 1) != 0:
        raise _Misfit(f"argument '{name}' must be {_a(kind)}, not an array")
    value, to = np.asarray(argument), kind.dtype
    if kind.is_date:
        if value.dtype.kind != to.kind or not np.can_cast(value.dtype, to, "same_kind"):
            raise _Misfit(f"argument '{name}' must be {_a(kind)}, not {type(argument).__name__}")
        same = value.dtype == to
        return Match.EXACT if same else Match.SAFE, value[()] if same else value.astype(to)[()]
    too_long = value.dtype.kind == "O" and isinstance(argument, int)
    if too_long or (value.dtype.kind in "iu" and to.kind in "iu"):
        if too_long or not np.iinfo(to).min <= int(argument) <= np.iinfo(to).max:
            raise _Misfit(f"argument '{name}' must fit {_a(kind)}, {argument!r} does not")
    elif not is_number(value.dtype) or not np.can_cast(value.dtype, to, "same_kind"):
        raise _Misfit(f"argument '{name}' must be {_a(kind)}, not {type(argument).__name__}")
    safe = Match.SAFE if np.can_cast(value.dtype, to, "safe") else Match.OTHER
    return Match.EXACT if value.dtype == to else safe, to.type(argument)


def _as_array(name: str, kind: Any, argument: Any) -> Match:
    reason = _array_misfit(kind, argument)
    if reason:
        raise _Misfit(f"argument '{name}' must be {_a(kind)}, not {reason}")
    return Match.SAFE if getattr(kind, "layout", "") == "A" else Match.EXACT


def _a(kind: object) -> str:
    return f"{'an' if str(kind)[0] in 'aeiou' and not str(kind).startswith('uint') else 'a'} {kind}"


def _array_misfit(kind: Any, argument: Any) -> str:
    if isinstance(argument, np.ndarray | DeviceNDArray) and getattr(kind, "layout", "") == "A":
        found, same = argument.dtype, argument.ndim == kind.ndim
        if same and found.isnative and found.type is _TYPES.get(str(kind.element)):
            return ""
    if not is_array(argument):
        return f"{type(argument).__name__}"
    if not hasattr(argument, "dtype") or not hasattr(argument, "ndim"):
        argument = np.asarray(argument)
    if isinstance(kind.element, Record):
        same = argument.dtype == kind.element.dtype
    else:
        same = str(argument.dtype).removeprefix("torch.") == kind.element.numpy_name
    if not same or argument.ndim != getattr(kind, "ndim", argument.ndim):
        dims = "dimension" if argument.ndim == 1 else "dimensions"
        return f"an array of {argument.dtype} with {argument.ndim} {dims}"
    if isinstance(kind, Array) and kind.layout != "A" and hasattr(argument, "flags"):
        wanted = "C_CONTIGUOUS" if kind.layout == "C" else "F_CONTIGUOUS"
        if not argument.flags[wanted]:
            return f"an array that is not {wanted.replace('_', '-').lower()}"
    return ""
