"""Types: of annotations, of conversions, and of `force_int_size` and `force_float_size`.

    N = parpy.types.symbol()

    @parpy.jit
    def scale(x: parpy.types.buffer(parpy.types.F32, [N]), a: parpy.types.F32):
        for i in range(N):
            x[i] *= a

A call whose arguments do not have these types and shapes is refused. The name of a symbol is a value in the
function: the extent of the dimensions that it stands for.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ._options import ElemSize, MoreSizes, Size

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
    """Something that each call decides anew."""

    __slots__ = ("name", "number")
    kind = ""

    def __init__(self, name: str | None) -> None:
        self.number = next(_numbers)
        self.name = name

    def __repr__(self) -> str:
        return self.name or f"{self.kind}{self.number}"


class Symbol(_Unknown):
    """An extent that each call decides; wherever the symbol stands it is the same."""

    __slots__ = ()
    kind = "N"


class TypeVar(_Unknown):
    """A type that each call decides; wherever the variable stands it is the same."""

    __slots__ = ()
    kind = "T"


def symbol(name: str | None = None) -> Symbol:
    """A new symbol for the extent of a dimension; ``name`` is what messages call it."""
    return Symbol(name)


shape_var = symbol


def type_var(name: str | None = None) -> TypeVar:
    """A new variable for a type; ``name`` is what messages call it."""
    return TypeVar(name)


@dataclass(frozen=True, slots=True)
class BufferType:
    """An array of elements of type `elem`; each of `shape` is an extent or a symbol."""

    elem: Size | TypeVar
    shape: tuple[int | Symbol, ...]

    def __repr__(self) -> str:
        return f"parpy.types.buffer({self.elem}, [{', '.join(map(repr, self.shape))}])"


def buffer(elem: Any, shape: Sequence[int | Symbol] | int | Symbol) -> BufferType:
    """The type of an array: its elements' type, a type variable or a NumPy type, and its extents."""
    kind = elem_size(elem)
    if kind is None and not isinstance(elem, TypeVar):
        raise TypeError(f"the elements of a buffer have a scalar type such as parpy.types.F32, not {elem!r}")
    extents = tuple(shape) if isinstance(shape, Iterable) else (shape,)
    for extent in extents:
        if isinstance(extent, bool) or not isinstance(extent, int | np.integer | Symbol):
            raise TypeError(f"an extent is an int or a parpy.types.symbol(), not {extent!r}")
        if not isinstance(extent, Symbol) and extent < 0:
            raise ValueError(f"an extent is not negative: {extent}")
    return BufferType(kind or elem, tuple(e if isinstance(e, Symbol) else int(e) for e in extents))


def elem_size(found: object) -> Size | None:
    """The type that `found` is or, as a NumPy scalar type or dtype, stands for; None if it is none."""
    from ._operators import scalar_name

    if isinstance(found, Size):
        return found
    if not isinstance(found, np.dtype) and not (isinstance(found, type) and issubclass(found, np.generic)):
        return None
    name = scalar_name(found)
    return next((size for size in (*ElemSize, *MoreSizes) if size.value == name), None)
