"""The types of CudaPy signatures: ``void``, ``bool``, ``int``, ``float``, ``double`` and pointers to them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ._errors import CudaTypeError


@dataclass(frozen=True)
class Type:
    """A type of C: ``Void``, ``Bool``, ``Int`` (32 bits), ``Float`` (32 bits) or ``Double`` (64 bits). ``scalar`` is
    the name of the type in IR text."""

    name: str
    scalar: str

    def __repr__(self) -> str:
        return self.name

    @property
    def dtype(self) -> np.dtype[Any]:
        """The corresponding NumPy dtype."""
        return np.dtype(_DTYPES[self.name])

    def __reduce__(self) -> tuple[Any, ...]:
        return type_named, (self.name,)  # pickling keeps one object per type


@dataclass(frozen=True)
class Pointer:
    """The type of an array parameter, ``Pointer(Float)`` for ``float*``. Raises CudaTypeError for elements other than
    ``Bool Int Float Double``."""

    element: Type

    def __post_init__(self) -> None:
        if not isinstance(self.element, Type) or not self.element.scalar:
            raise CudaTypeError(
                f"{self.element!r} is not an element type; write cp.Bool, cp.Int, cp.Float or cp.Double"
            )

    def __repr__(self) -> str:
        return f"{self.element}*"


Void, Bool, Int = Type("void", ""), Type("bool", "bool"), Type("int", "i32")
Float, Double = Type("float", "f32"), Type("double", "f64")
_DTYPES = {"bool": np.bool_, "int": np.int32, "float": np.float32, "double": np.float64}
_NAMED = {each.name: each for each in (Void, Bool, Int, Float, Double)}

CType = Type | Pointer


class Signature(NamedTuple):
    """``name : result (type name, …)``; the name may be empty, and the names of parameters have no effect."""

    name: str
    result: Type
    parameters: tuple[CType, ...]


_SIGNATURE = re.compile(r"#?\s*(?:(\w+)\s*:\s*)?(\w+)\s*\((.*)\)\s*$")
_PARAMETER = re.compile(r"(\w+)\s*((?:\*\s*)*)\s*(\w*)$")


def type_named(text: str) -> CType:
    """The type that a text such as ``float`` or ``float*`` names."""
    match = _PARAMETER.match(text.strip())
    stars = match.group(2).count("*") if match else 0
    if match is None or match.group(1) not in _NAMED or stars > 1:
        allowed = "void, bool, int, float, double, and each of them with a star"
        raise CudaTypeError(f"'{text.strip()}' is not a type; there are {allowed}")
    found = _NAMED[match.group(1)]
    if not stars:
        return found
    if found is Void:
        raise CudaTypeError("a pointer to void has no elements")
    return Pointer(found)


def parse_signature(text: str) -> Signature | None:
    """The signature that a text or comment line contains; None for other lines."""
    match = _SIGNATURE.match(text.strip())
    if match is None:
        return None
    name, result, inside = match.groups()
    parts = [part for part in inside.split(",") if part.strip()]
    return _signature(name or "", type_named(result), tuple(type_named(part) for part in parts))


def _signature(name: str, result: CType, parameters: tuple[CType, ...]) -> Signature:
    if isinstance(result, Pointer):
        raise CudaTypeError(f"a function cannot return {result}")
    if Void in parameters:
        raise CudaTypeError("a parameter cannot be void")
    return Signature(name, result, parameters)


def as_signature(given: Any, name: str) -> Signature:
    """The Signature of a text, a Signature, or a list of types with the type of the result first."""
    if isinstance(given, str):
        found = parse_signature(given)
        if found is None:
            raise CudaTypeError(f"'{given}' is not a signature; write for example 'void (float a, float* X)'")
        return found._replace(name=name)
    if isinstance(given, list | tuple) and given and all(isinstance(each, Type | Pointer) for each in given):
        return _signature(name, given[0], tuple(given[1:]))
    raise CudaTypeError(f"{given!r} is not a signature; write a string, or a list of types with the result's first")
