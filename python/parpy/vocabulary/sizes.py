"""The types of elements and numbers, with their names in NumPy, PyTorch and ctypes."""

from __future__ import annotations

import enum
import importlib
from typing import Any, Final

import numpy as np


class Size:
    """A type of elements and numbers, with its names in NumPy, PyTorch and ctypes."""

    name: str
    value: str

    def size(self) -> int:
        """Returns the number of bytes of one element."""
        return 1 if self.name == "Bool" else int(self.name.lstrip("BCFIU")) // 8

    def to_numpy(self) -> type[np.generic]:
        """Returns the NumPy scalar type, such as ``numpy.int32``. BF16 is the type of the package ``ml_dtypes``,
        because NumPy has none; without that package this raises ModuleNotFoundError.
        """
        scalar: type[np.generic]
        if self.name == "BF16":
            try:
                scalar = importlib.import_module("ml_dtypes").bfloat16
            except ModuleNotFoundError as error:
                error.msg = "NumPy has no bfloat16 of its own: install the package ml_dtypes for arrays of it"
                raise
            return scalar
        scalar = getattr(np, "bool_" if self.name == "Bool" else self._long_name())
        return scalar

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype. NumPy functions therefore accept an ElemSize as ``dtype``."""
        return np.dtype(self.to_numpy())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Size) or not isinstance(other, np.dtype | type):
            return self is other
        if isinstance(other, type) and not issubclass(other, np.generic):
            return False
        return self.name != "BF16" and bool(self.dtype == other)

    def __hash__(self) -> int:
        return hash(self.name)

    def _long_name(self) -> str:
        kinds = {"I": "int", "U": "uint", "F": "float", "C": "complex", "B": "bfloat"}
        return kinds[self.name[0]] + self.name.lstrip("BCFIU")

    def to_torch(self) -> Any:
        """Returns the ``torch.dtype``. Raises ValueError for U16, U32 and U64, which PyTorch does not compute with."""
        if self.name in ("U16", "U32", "U64"):
            raise ValueError(f"PyTorch has no type for parpy.types.{self.name}")
        torch = importlib.import_module("torch")  # PyTorch is an optional package
        return getattr(torch, "bool" if self.name == "Bool" else self._long_name())

    def to_ctype(self) -> type[Any]:
        """Returns the ctypes class, such as ``ctypes.c_int32``. C has no 16-bit floats, so those are
        ``ctypes.c_uint16`` with the same bits. Raises ValueError for complex numbers.
        """
        import ctypes

        if self.name in ("C64", "C128"):
            raise ValueError(f"ctypes has no type for parpy.types.{self.name}")
        names = {"Bool": "c_bool", "F16": "c_uint16", "BF16": "c_uint16", "F32": "c_float", "F64": "c_double"}
        kind = {"I": "c_int", "U": "c_uint"}
        found: type[Any] = getattr(ctypes, names.get(self.name) or kind[self.name[0]] + self.name[1:])
        return found


class ElemSize(Size, enum.Enum):
    """Element types of arrays and scalars."""

    Bool = "bool"
    I8 = "i8"
    I16 = "i16"
    I32 = "i32"
    I64 = "i64"
    U8 = "u8"
    U16 = "u16"
    U32 = "u32"
    U64 = "u64"
    F16 = "f16"
    F32 = "f32"
    F64 = "f64"

    __eq__ = Size.__eq__
    __hash__ = Size.__hash__


class MoreSizes(Size, enum.Enum):
    """Element types that ElemSize does not have."""

    BF16 = "bf16"
    C64 = "c64"
    C128 = "c128"

    __eq__ = Size.__eq__
    __hash__ = Size.__hash__


SIZES: Final[dict[str, Size]] = {size.value: size for size in (*ElemSize, *MoreSizes)}
"""The types by their names in IR text."""
