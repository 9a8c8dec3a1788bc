"""Types for annotations, for conversions, and for the options `force_int_size` and `force_float_size`::

    N = parpy.types.symbol()

    @parpy.jit
    def scale(x: parpy.types.buffer(parpy.types.F32, [N]), a: parpy.types.F32):
        for i in range(N):
            x[i] *= a

A call whose arguments do not have these types and shapes is refused. The name of a symbol is a value in the
function: the extent of the dimensions that are annotated with it.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .vocabulary.operators import is_torch_dtype, scalar_name
from .vocabulary.sizes import SIZES, ElemSize, MoreSizes, Size

__all__ = [
    "BF16", "C64", "C128", "F16", "F32", "F64", "I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64",
    "Bool", "BufferType", "ElemSize", "Symbol", "TypeVar", "bf16", "buffer", "complex64", "complex128",
    "shape_var", "symbol", "type_var",
]  # fmt: skip

Bool: Final = ElemSize.Bool
I8: Final = ElemSize.I8
I16: Final = ElemSize.I16
I32: Final = ElemSize.I32
I64: Final = ElemSize.I64
U8: Final = ElemSize.U8
U16: Final = ElemSize.U16
U32: Final = ElemSize.U32
U64: Final = ElemSize.U64
F16: Final = ElemSize.F16
BF16: Final = MoreSizes.BF16
F32: Final = ElemSize.F32
F64: Final = ElemSize.F64
C64: Final = MoreSizes.C64
C128: Final = MoreSizes.C128
bf16: Final = BF16
complex64: Final = C64
complex128: Final = C128

_numbers = itertools.count()


class _Unknown:
    """A size or a type that each call determines anew."""

    __slots__ = ("name", "number")
    kind = ""

    def __init__(self, name: str | None) -> None:
        if name is not None and not isinstance(name, str):
            raise TypeError(f"the name of a {type(self).__name__.lower()} is a str, not {name!r}")
        self.number = next(_numbers)
        self.name = name

    def __repr__(self) -> str:
        return self.name or f"{self.kind}{self.number}"


# The values of symbols and type variables in the calls that Python runs (seq=True), the innermost call last.
_bound: ContextVar[tuple[dict[_Unknown, Any], ...]] = ContextVar("_bound", default=())


def _value_of(unknown: _Unknown) -> Any:
    for values in reversed(_bound.get()):
        if unknown in values:
            return values[unknown]
    raise TypeError(f"{unknown!r} has a value only in a function whose annotations name it")


class Symbol(_Unknown):
    """A size that each call decides. All dimensions with the same symbol have the same size, which is a number in the
    function.
    """

    __slots__ = ()
    kind = "N"

    def __index__(self) -> int:
        return int(_value_of(self))

    __int__ = __index__

    def __float__(self) -> float:
        return float(int(self))

    def __bool__(self) -> bool:
        return bool(_bound.get() == () or int(self))

    def __neg__(self) -> int:
        return -int(self)


def _calculates(name: str, function: Callable[..., Any]) -> None:
    def operator_of(self: Symbol, other: Any) -> Any:
        return function(int(self), int(other) if isinstance(other, Symbol) else other)

    def reversed_operator(self: Symbol, other: Any) -> Any:
        return function(other, int(self))

    setattr(Symbol, f"__{name}__", operator_of)
    if name not in ("lt", "le", "gt", "ge"):
        setattr(Symbol, f"__r{name}__", reversed_operator)


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "le", "gt", "ge"):
    _calculates(_name, getattr(operator, _name))


class TypeVar(_Unknown):
    """A type that each call decides. All annotations with the same variable have the same type."""

    __slots__ = ()
    kind = "T"

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy type in the innermost call that Python runs. Raises TypeError outside of such a call."""
        found: np.dtype[Any] = _value_of(self)
        return found


@contextmanager
def bound_to(annotations: dict[str, Any], arguments: dict[str, Any]) -> Iterator[None]:
    """Gives the symbols and type variables of the annotations the sizes and types of the arguments, in a context."""
    values: dict[_Unknown, Any] = {}
    for name, annotation in annotations.items():
        argument = arguments[name]
        if isinstance(annotation, BufferType):
            for number, extent in enumerate(annotation.shape):
                if isinstance(extent, Symbol) and number < len(np.shape(argument)):
                    values.setdefault(extent, np.shape(argument)[number])
            if isinstance(annotation.elem, TypeVar):
                values.setdefault(annotation.elem, np.asarray(argument).dtype)
        elif isinstance(annotation, TypeVar):
            values.setdefault(annotation, np.asarray(argument).dtype)
        elif isinstance(annotation, Symbol):
            values.setdefault(annotation, argument)
    token = _bound.set((*_bound.get(), values))
    try:
        yield
    finally:
        _bound.reset(token)


def symbol(name: str | None = None) -> Symbol:
    """Returns a new symbol for the extent of a dimension. Error messages call it ``name``."""
    return Symbol(name)


shape_var = symbol


def type_var(name: str | None = None) -> TypeVar:
    """Returns a new variable for a type. Error messages call it ``name``."""
    return TypeVar(name)


@dataclass(frozen=True, slots=True)
class BufferType:
    """An array of elements of type `elem`; each of `shape` is an extent or a symbol."""

    elem: Size | TypeVar
    shape: tuple[int | Symbol, ...]

    def __repr__(self) -> str:
        return f"parpy.types.buffer({self.elem}, [{', '.join(map(repr, self.shape))}])"


def buffer(elem: Any, shape: Sequence[int | Symbol] | int | Symbol) -> BufferType:
    """Returns the type of an array. ``elem`` is a scalar type or a type variable; ``shape`` has extents or symbols."""
    kind = elem_size(elem)
    if kind is None and not isinstance(elem, TypeVar):
        raise TypeError(f"the elements of a buffer have a scalar type such as parpy.types.F32, not {elem!r}")
    extents = tuple(shape) if isinstance(shape, Iterable) else (shape,)
    for extent in extents:
        if isinstance(extent, bool) or not isinstance(extent, int | np.integer | Symbol):
            raise TypeError(f"an extent is an int or a parpy.types.symbol(), not {extent!r}")
        if not isinstance(extent, Symbol) and extent < 0:
            raise ValueError(f"an extent must not be negative: {extent}")
    return BufferType(kind or elem, tuple(e if isinstance(e, Symbol) else int(e) for e in extents))


def elem_size(found: object) -> Size | None:
    """The element type for `found`, a type of ParPy, NumPy or PyTorch; None if there is no such element type."""
    if isinstance(found, Size):
        return found
    of_numpy = isinstance(found, np.dtype) or (isinstance(found, type) and issubclass(found, np.generic))
    if not of_numpy and not is_torch_dtype(found):
        return None
    return SIZES.get(scalar_name(found) or "")
