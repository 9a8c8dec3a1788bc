"""The types of signatures, such as ``float32[:, :]`` and ``void(float32[:], int64)``, as objects or as text."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from .operators import NAME_OF, is_numba, scalar_name
from .sizes import MoreSizes

# parpy.cuda.types exports these names.
__all__ = [
    "Array", "CPointer", "NPDatetime", "NPTimedelta", "Record", "Tuple", "UniTuple", "b1", "bfloat16", "bool_",
    "boolean", "byte", "c8", "c16", "char", "complex64", "complex128", "double", "f2", "f4", "f8", "float16",
    "float32", "float64", "float_", "from_dtype", "i1", "i2", "i4", "i8", "int8", "int16", "int32", "int64", "int_",
    "intc", "intp", "long_", "longlong", "none", "short", "size_t", "ssize_t", "u1", "u2", "u4", "u8", "uchar",
    "uint", "uint8", "uint16", "uint32", "uint64", "uintc", "uintp", "ulong", "ulonglong", "ushort", "void",
]  # fmt: skip


_T = TypeVar("_T")


def _equals_numbas(cls: type[_T]) -> type[_T]:
    """Makes objects of a class equal to Numba's types with the same meaning too."""
    own = cls.__eq__

    def equal(self: Any, other: object) -> Any:
        found = own(self, other)
        return own(self, of_numba(other)) if found is NotImplemented and is_numba(other) else found

    cls.__eq__ = equal  # type: ignore[method-assign]
    return cls


class _Result:
    """A type that can be the result of a signature: ``float32(int32)``."""

    def __call__(self, *arguments: Any) -> Signature:
        result = self if isinstance(self, Scalar | Array | Record | TupleType) else None
        return Signature(result, tuple(argument_type(each) for each in arguments))


class _Element(_Result):
    """A type that can be the element type of an array: ``float32[:]``."""

    def __getitem__(self, index: object) -> Array:
        parts = index if isinstance(index, tuple) else (index,)
        if not parts or not all(isinstance(part, slice) and part.start is part.stop is None for part in parts):
            raise TypeError(f"write {self}[:] or {self}[:, :], not {self}[{index!r}]")
        steps = [part.step for part in parts]
        if any(step not in (None, 1) for step in steps) or steps.count(1) > 1:
            raise TypeError(f"an array type has one '::1' at most, not {index!r}")
        layout = "A"
        if steps[-1] == 1:
            layout = "C"
        elif steps[0] == 1:
            layout = "F"
        elif 1 in steps:
            raise TypeError("'::1' must be the first dimension (Fortran order) or the last (C order)")
        assert isinstance(self, Scalar | Record)
        return Array(self, len(parts), layout)


@_equals_numbas
@dataclass(frozen=True)
class Scalar(_Element):
    """A number type. ``float32[:]`` is an array type, ``float32(int32)`` a signature, and ``float32(x)`` of a number,
    also in a kernel, a conversion."""

    name: str  # the name in IR text: "f32"
    shown: str

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype. Raises TypeError if NumPy has no such type."""
        try:
            return np.dtype(MoreSizes.BF16.to_numpy() if self.name == "bf16" else self.numpy_name)
        except ImportError:
            raise TypeError("arrays of bfloat16 need the package ml_dtypes, which is not installed") from None

    @property
    def numpy_name(self) -> str:
        return "bool" if self.name == "bool" else self.shown

    @property
    def bitwidth(self) -> int:
        """The size of a number in bits."""
        return 8 * self.dtype.itemsize

    @property
    def signed(self) -> bool:
        """Whether the numbers have a sign."""
        return self.dtype.kind not in "ub"

    @property
    def is_date(self) -> bool:
        """Whether the numbers represent dates or durations."""
        return self.shown.startswith(("datetime64", "timedelta64"))

    def __call__(self, *arguments: Any) -> Any:
        """Returns a signature with this result; for a single number, the number as a NumPy scalar of this type."""
        if len(arguments) == 1 and isinstance(arguments[0], bool | int | float | complex | np.number | np.bool_):
            return self.dtype.type(arguments[0])
        return super().__call__(*arguments)

    def __str__(self) -> str:
        return self.shown

    __repr__ = __str__


@_equals_numbas
@dataclass(frozen=True)
class Record(_Element):
    """The type of records with the fields of a NumPy dtype. ``Record(dtype)[:]`` is an array type."""

    dtype: np.dtype[Any]

    def __post_init__(self) -> None:
        if not isinstance(self.dtype, np.dtype) or self.dtype.names is None:
            raise TypeError(f"a record has the fields of a dtype, np.dtype([('x', 'f4')]), not {self.dtype!r}")

    def __str__(self) -> str:
        return f"Record({', '.join(self.dtype.names or ())})"

    __repr__ = __str__


@_equals_numbas
@dataclass(frozen=True)
class Array(_Result):
    """An array type; ``layout`` is "C", "F" or "A" (any)."""

    dtype: Scalar | Record
    ndim: int
    layout: str = "A"

    def __post_init__(self) -> None:
        if not isinstance(self.element, Scalar | Record):
            raise TypeError(f"the elements of an array are numbers or records, not {self.element!r}")
        if type(self.ndim) is not int or self.ndim < 1:
            raise TypeError(f"an array has a number of dimensions from 1, not {self.ndim!r}")
        if self.layout not in ("A", "C", "F"):
            raise TypeError(f"the layout of an array is 'C', 'F' or 'A', not {self.layout!r}")

    @property
    def element(self) -> Scalar | Record:
        """The type of the elements."""
        return self.dtype

    def __str__(self) -> str:
        parts = [":"] * self.ndim
        if self.layout != "A":
            parts[-1 if self.layout == "C" else 0] = "::1"
        return f"{self.element}[{', '.join(parts)}]"

    __repr__ = __str__


@_equals_numbas
@dataclass(frozen=True)
class TupleType(_Result):
    """The type of an argument that is a tuple."""

    parts: tuple[Scalar | Array | Record | TupleType, ...]

    def __str__(self) -> str:
        if self.parts and all(part == self.parts[0] for part in self.parts):
            return f"UniTuple({self.parts[0]}, {len(self.parts)})"
        return f"Tuple(({', '.join(map(str, self.parts))}{',' if len(self.parts) == 1 else ''}))"

    __repr__ = __str__


@_equals_numbas
@dataclass(frozen=True)
class Void(_Result):
    def __repr__(self) -> str:
        return "void"


Type = Scalar | Array | Record | TupleType


@_equals_numbas
@dataclass(frozen=True)
class Pointer:
    """The type of a pointer to elements, an argument of a foreign function."""

    element: Scalar

    def __str__(self) -> str:
        return f"CPointer({self.element})"

    __repr__ = __str__


@_equals_numbas
@dataclass(frozen=True)
class Signature:
    """The types of the arguments and of the result; None means no result or, if `open`, a result of any type."""

    result: Scalar | Array | Record | TupleType | None
    arguments: tuple[Type | Pointer, ...]
    open: bool = field(default=False, compare=False)

    @property
    def number(self) -> str:
        """The name in IR text of the type of the number that the function returns; "void" if it returns none."""
        return self.result.name if isinstance(self.result, Scalar) else "void"

    @property
    def args(self) -> tuple[Type | Pointer, ...]:
        """The types of the arguments."""
        return self.arguments

    @property
    def return_type(self) -> Any:
        """The type of the result; ``void`` if there is none."""
        return self.result or void

    def __str__(self) -> str:
        return f"{self.result or 'void'}({', '.join(map(str, self.arguments))})"

    __repr__ = __str__


def Tuple(parts: Any) -> TupleType:
    """Returns the type of a tuple whose elements have these types."""
    if not isinstance(parts, tuple | list):
        raise TypeError(f"Tuple takes the types of the elements, as a tuple, not {parts!r}")
    found = tuple(argument_type(each) for each in parts)
    if any(isinstance(each, Pointer) for each in found):
        raise TypeError("a tuple cannot contain pointers")
    return TupleType(tuple(each for each in found if not isinstance(each, Pointer)))


def UniTuple(dtype: Any, count: int) -> TupleType:
    """Returns the type of a tuple of ``count`` elements of one type."""
    if type(count) is not int or count < 0:
        raise TypeError(f"a tuple has a number of elements from 0, not {count!r}")
    return Tuple((dtype,) * count)


def CPointer(element: Any) -> Pointer:
    """Returns the type of a pointer to elements, for arguments of foreign functions."""
    found = argument_type(element)
    if not isinstance(found, Scalar):
        raise TypeError(f"a pointer to a number type, not to {element!r}")
    return Pointer(found)


def NPDatetime(unit: str = "") -> Scalar:
    """Returns the type of NumPy's dates in a unit: ``NPDatetime("D")`` is the type of ``datetime64[D]``."""
    return _date("datetime64", unit)


def NPTimedelta(unit: str = "") -> Scalar:
    """Returns the type of NumPy's durations in a unit: ``NPTimedelta("ms")`` is the type of ``timedelta64[ms]``."""
    return _date("timedelta64", unit)


def _date(kind: str, unit: Any) -> Scalar:
    try:
        return Scalar("i64", str(np.dtype(f"{kind}[{unit}]" if unit else kind)))
    except TypeError:
        raise TypeError(f"{unit!r} is not a unit of NumPy's dates; write for example 'D' or 'ms'") from None


def from_dtype(dtype: Any) -> Scalar | Record:
    """Returns the type for a NumPy dtype: a type of numbers, of dates or durations, or of records."""
    given = np.dtype(dtype)
    if given.kind in "mM":
        return Scalar("i64", str(given))
    name = scalar_name(given)
    if name is None and given.names is None:
        raise TypeError(f"elements of type {given} cannot be used in kernels")
    return Record(given) if name is None else BY_IR_NAME[name]


BY_IR_NAME = {name: Scalar(name, "boolean" if name == "bool" else shown) for shown, name in NAME_OF.items()}
boolean = bool_ = b1 = BY_IR_NAME["bool"]
int8 = i1 = char = BY_IR_NAME["i8"]
int16 = i2 = short = BY_IR_NAME["i16"]
int32 = i4 = intc = BY_IR_NAME["i32"]
int64 = i8 = int_ = intp = long_ = longlong = ssize_t = BY_IR_NAME["i64"]
uint8 = u1 = byte = uchar = BY_IR_NAME["u8"]
uint16 = u2 = ushort = BY_IR_NAME["u16"]
uint32 = u4 = uintc = BY_IR_NAME["u32"]
uint64 = u8 = uint = uintp = ulong = ulonglong = size_t = BY_IR_NAME["u64"]
float16 = f2 = BY_IR_NAME["f16"]
bfloat16 = BY_IR_NAME["bf16"]
float32 = f4 = float_ = BY_IR_NAME["f32"]
float64 = f8 = double = BY_IR_NAME["f64"]
complex64 = c8 = BY_IR_NAME["c64"]
complex128 = c16 = BY_IR_NAME["c128"]
void = none = Void()

SCALARS: dict[str, Scalar] = {name: found for name, found in globals().items() if isinstance(found, Scalar)}
"""The number types by each of their names."""


_PYTHON = {"bool": "boolean", "int": "int64", "float": "float64", "complex": "complex128"}


def argument_type(given: Any) -> Type | Pointer:
    """A type of this module for one of its own types, a type of Numba or NumPy, or a text."""
    if isinstance(given, str):
        found = parse(given)
        if isinstance(found, Type | Pointer):
            return found
        raise TypeError(f"'{given}' is not the type of an argument")
    found = of_numba(given)
    if isinstance(found, Type | Pointer):
        return found
    name = scalar_name(given)
    if name is not None:
        return BY_IR_NAME[name]
    if isinstance(given, np.dtype) and (given.names is not None or given.kind in "mM"):
        return from_dtype(given)
    raise TypeError(f"{given!r} is not the type of an argument; write for example 'float32[:]' or 'int64'")


def number_signature(given: Any, with_result: bool = False) -> Signature:
    """The signature of a function that returns a number or nothing. Raises TypeError for other results."""
    found = signature(given, with_result)
    if found.result is not None and not isinstance(found.result, Scalar):
        raise TypeError(
            f"kernels and the functions that they call cannot return {found.result}; write the result to an argument"
        )
    return found


def signature(given: Any, with_result: bool = False) -> Signature:
    """The signature for an object, a tuple of argument types, or a text. A text may omit ``void``, unless
    ``with_result``."""
    found = parse(given) if isinstance(given, str) else of_numba(given)
    if isinstance(found, Signature):
        return found
    if with_result:
        raise TypeError(f"{given!r} has no result and arguments; write for example 'int32(float32, int32)'")
    if isinstance(found, tuple):
        return Signature(None, tuple(argument_type(each) for each in found), open=True)
    if isinstance(found, Scalar | Array | Record | Pointer):
        return Signature(None, (found,), open=True)
    raise TypeError(f"{given!r} is not a signature; write for example 'void(float32[:], int32)'")


def is_signature(given: object) -> bool:
    """Whether the object is a type, a signature, a text, or a list or tuple of them."""
    return isinstance(of_numba(given), str | tuple | list | Signature | Type | Pointer | Void)


# ---------------------------------------------------------------- Numba's own types


def like_numbas(found: Any, given: object) -> Any:
    """A number type or ``void`` as Numba's own type, if the signature or the tuple of types ``given`` is Numba's."""
    parts = given if isinstance(given, tuple) else (given,)
    types = getattr(sys.modules.get("numba"), "types", None)
    return getattr(types, str(found), found) if any(map(is_numba, parts)) else found


def of_numba(given: Any) -> Any:
    """Numba's type or signature converted to one of this module, by its name and its parts; others are unchanged."""
    if not is_numba(given):
        return given
    made = _OF_NUMBA.get(type(given).__name__)
    if made is not None:
        return made(given)
    name = str(getattr(given, "name", ""))
    known = SCALARS.get(_PYTHON.get(name, name))
    return given if known is None else known


def _numba_record(given: Any) -> Record:
    names = [*given.fields]
    formats = [_numba_field(given.typeof(name)) for name in names]
    layout = {"names": names, "formats": formats, "offsets": [given.offset(n) for n in names], "itemsize": given.size}
    return Record(np.dtype(layout))  # type: ignore[call-overload]


def _numba_field(given: Any) -> Any:
    if type(given).__name__ == "NestedArray":
        return np.dtype((argument_type(given.dtype).dtype, given.shape))  # type: ignore[union-attr]
    return argument_type(given).dtype  # type: ignore[union-attr]


_OF_NUMBA: dict[str, Callable[[Any], Any]] = {
    "Array": lambda given: Array(argument_type(given.dtype), given.ndim, given.layout),  # type: ignore[arg-type]
    "CPointer": lambda given: CPointer(given.dtype),
    "NPDatetime": lambda given: NPDatetime(given.unit),
    "NPTimedelta": lambda given: NPTimedelta(given.unit),
    "NoneType": lambda _: void,
    "Record": _numba_record,
    "Signature": lambda given: of_numba(given.return_type)(*given.args),
    "Tuple": lambda given: Tuple(given.types),
    "UniTuple": lambda given: Tuple(given.types),
}


def parse(text: str) -> Any:
    """Parses a text: a type, a signature, or a tuple of types. Raises TypeError if it is none of them."""
    try:
        return _build(ast.parse(text.strip(), mode="eval").body, text)
    except (SyntaxError, TypeError, ValueError) as error:
        raise TypeError(f"the signature '{text}' cannot be read: {error}") from None


def _build(node: ast.expr, text: str) -> Any:
    match node:
        case ast.Name(id="void" | "none"):
            return void
        case ast.Name(id=name):
            known = SCALARS.get(_PYTHON.get(name, name))
            if known is None:
                from difflib import get_close_matches

                close = get_close_matches(name, SCALARS, 1)
                raise TypeError(f"there is no type '{name}'" + (f"; did you mean '{close[0]}'?" if close else ""))
            return known
        case ast.Attribute(attr=name):
            return _build(ast.Name(name), text)
        case ast.Subscript(value=element, slice=index):
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            return _build(element, text)[tuple(_slice(part) for part in parts)]
        case ast.Call(func=ast.Name(id="CPointer"), args=[element]):
            return CPointer(_build(element, text))
        case ast.Call(func=ast.Name(id="NPDatetime" | "NPTimedelta" as name), args=[ast.Constant(value=str(unit))]):
            return NPDatetime(unit) if name == "NPDatetime" else NPTimedelta(unit)
        case ast.Call(func=ast.Name(id="UniTuple"), args=[element, ast.Constant(value=int(count))]):
            return UniTuple(_build(element, text), count)
        case ast.Call(func=ast.Name(id="Tuple"), args=[ast.Tuple() | ast.List() as parts]):
            return Tuple(tuple(_build(each, text) for each in parts.elts))
        case ast.Call(func=result, args=arguments, keywords=[]):
            return _build(result, text)(*(_build(each, text) for each in arguments))
        case ast.Tuple(elts=parts):
            return tuple(_build(each, text) for each in parts)
    raise TypeError(f"'{ast.unparse(node)}' is not a type")


def _slice(node: ast.expr) -> slice:
    if isinstance(node, ast.Slice) and node.lower is None and node.upper is None:
        if node.step is None:
            return slice(None)
        if isinstance(node.step, ast.Constant) and node.step.value == 1:
            return slice(None, None, 1)
    raise TypeError(f"'{ast.unparse(node)}' is not a dimension; write ':' or '::1'")
