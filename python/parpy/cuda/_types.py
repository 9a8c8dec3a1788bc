"""Types as signatures write them: ``float32[:, :]``, ``void(float32[:], int64)``, as objects or as text."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._operators import scalar_name


@dataclass(frozen=True)
class Scalar:
    """A number type. ``float32[:]`` is an array of it, ``float32(int32)`` a signature, ``float32(x)`` in a kernel a
    conversion."""

    name: str  # as IR text has it: "f32"
    shown: str

    def __getitem__(self, index: object) -> Array:
        parts = index if isinstance(index, tuple) else (index,)
        if not parts or not all(isinstance(part, slice) and part.start is part.stop is None for part in parts):
            raise TypeError(f"write {self.shown}[:] or {self.shown}[:, :], not {self.shown}[{index!r}]")
        steps = [part.step for part in parts]
        if any(step not in (None, 1) for step in steps) or steps.count(1) > 1:
            raise TypeError(f"an array type has one '::1' at most, not {index!r}")
        layout = "A"
        if steps[-1] == 1:
            layout = "C"
        elif steps[0] == 1:
            layout = "F"
        elif 1 in steps:
            raise TypeError("'::1' stands first (Fortran order) or last (C order)")
        return Array(self, len(parts), layout)

    def __call__(self, *arguments: Any) -> Signature:
        return Signature(self, tuple(argument_type(each) for each in arguments))

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype({"bfloat16": "float16"}.get(self.shown, self.shown.replace("boolean", "bool")))

    def __str__(self) -> str:
        return self.shown

    __repr__ = __str__


@dataclass(frozen=True)
class Array:
    """An array type; ``layout`` is "C", "F" or "A" (any)."""

    element: Scalar
    ndim: int
    layout: str

    def __call__(self, *arguments: Any) -> Signature:
        raise TypeError(f"a function cannot return {self}")

    def __str__(self) -> str:
        parts = [":"] * self.ndim
        if self.layout != "A":
            parts[-1 if self.layout == "C" else 0] = "::1"
        return f"{self.element}[{', '.join(parts)}]"

    __repr__ = __str__


@dataclass(frozen=True)
class Void:
    def __call__(self, *arguments: Any) -> Signature:
        return Signature(None, tuple(argument_type(each) for each in arguments))

    def __repr__(self) -> str:
        return "void"


Type = Scalar | Array


@dataclass(frozen=True)
class Pointer:
    """Where a foreign function takes a pointer to elements."""

    element: Scalar

    def __str__(self) -> str:
        return f"CPointer({self.element})"

    __repr__ = __str__


@dataclass(frozen=True)
class Signature:
    """Types of the arguments, and of the result (None: nothing)."""

    result: Scalar | None
    arguments: tuple[Type | Pointer, ...]

    def __str__(self) -> str:
        return f"{self.result or 'void'}({', '.join(map(str, self.arguments))})"

    __repr__ = __str__


def CPointer(element: Any) -> Pointer:
    """The type of a pointer argument of a foreign function."""
    found = argument_type(element)
    if not isinstance(found, Scalar):
        raise TypeError(f"a pointer to a number type, not to {element!r}")
    return Pointer(found)


_SCALARS = {
    "boolean": "bool", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
    "uint32": "u32", "uint64": "u64", "float16": "f16", "float32": "f32", "float64": "f64", "complex64": "c64",
    "complex128": "c128",
}  # fmt: skip
_OTHER_NAMES = {
    "bool_": "boolean", "b1": "boolean", "byte": "uint8", "char": "int8", "short": "int16", "ushort": "uint16",
    "intc": "int32", "uintc": "uint32", "int_": "int64", "uint": "uint64", "intp": "int64", "uintp": "uint64",
    "float_": "float32", "double": "float64", "i1": "int8", "i2": "int16", "i4": "int32",
    "i8": "int64", "u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64", "f2": "float16", "f4": "float32",
    "f8": "float64", "c8": "complex64", "c16": "complex128",
}  # fmt: skip
_BY_NAME = {shown: Scalar(name, shown) for shown, name in _SCALARS.items()}
_BY_IR_NAME = {each.name: each for each in _BY_NAME.values()}

boolean, int8, int16, int32, int64 = (_BY_NAME[n] for n in ("boolean", "int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = (_BY_NAME[n] for n in ("uint8", "uint16", "uint32", "uint64"))
float16, float32, float64 = (_BY_NAME[n] for n in ("float16", "float32", "float64"))
complex64, complex128 = _BY_NAME["complex64"], _BY_NAME["complex128"]
void = Void()


def argument_type(given: Any) -> Type | Pointer:
    """A type from one of ours, a NumPy type, or a text."""
    if isinstance(given, Scalar | Array | Pointer):
        return given
    if isinstance(given, str):
        found = parse(given)
        if isinstance(found, Scalar | Array | Pointer):
            return found
        raise TypeError(f"'{given}' is no type of an argument")
    name = scalar_name(given)
    if name in _BY_IR_NAME:
        return _BY_IR_NAME[name]
    raise TypeError(f"{given!r} is no type of an argument; write for example 'float32[:]' or 'int64'")


def signature(given: Any, with_result: bool = False) -> Signature:
    """A signature from an object, a tuple of argument types, or a text; a text may leave out ``void``, but not
    ``with_result``."""
    found = parse(given) if isinstance(given, str) else given
    if isinstance(found, Signature):
        return found
    if with_result:
        raise TypeError(f"{given!r} says no result and arguments; write for example 'int32(float32, int32)'")
    if isinstance(found, tuple):
        return Signature(None, tuple(argument_type(each) for each in found))
    if isinstance(found, Scalar | Array | Pointer):
        return Signature(None, (found,))
    raise TypeError(f"{given!r} is no signature; write for example 'void(float32[:], int32)'")


def parse(text: str) -> Any:
    """What a text says: a type, a signature, or a tuple of types."""
    try:
        return _build(ast.parse(text.strip(), mode="eval").body, text)
    except (SyntaxError, TypeError, ValueError) as error:
        raise TypeError(f"the signature '{text}' cannot be read: {error}") from None


def _build(node: ast.expr, text: str) -> Any:
    match node:
        case ast.Name(id="void"):
            return void
        case ast.Name(id=name):
            known = _BY_NAME.get(_OTHER_NAMES.get(name, name))
            if known is None:
                from difflib import get_close_matches

                close = get_close_matches(name, [*_BY_NAME, *_OTHER_NAMES], 1)
                raise TypeError(f"there is no type '{name}'" + (f"; did you mean '{close[0]}'?" if close else ""))
            return known
        case ast.Attribute(attr=name):
            return _build(ast.Name(name), text)
        case ast.Subscript(value=element, slice=index):
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            return _build(element, text)[tuple(_slice(part) for part in parts)]
        case ast.Call(func=ast.Name(id="CPointer"), args=[element]):
            return CPointer(_build(element, text))
        case ast.Call(func=result, args=arguments, keywords=[]):
            return _build(result, text)(*(_build(each, text) for each in arguments))
        case ast.Tuple(elts=parts):
            return tuple(_build(each, text) for each in parts)
    raise TypeError(f"'{ast.unparse(node)}' is no type")


def _slice(node: ast.expr) -> slice:
    if isinstance(node, ast.Slice) and node.lower is None and node.upper is None:
        if node.step is None:
            return slice(None)
        if isinstance(node.step, ast.Constant) and node.step.value == 1:
            return slice(None, None, 1)
    raise TypeError(f"'{ast.unparse(node)}' is no dimension; write ':' or '::1'")
