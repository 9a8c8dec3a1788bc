"""``CudaArray``: a one-dimensional array on the device, freed with its last reference."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..cuda import DeviceNDArray, device_array, to_device
from ._errors import CudaPyError
from ._types import Bool, Double, Float, Int, Type

_BY_DTYPE = {each.dtype: each for each in (Bool, Int, Float, Double)}


def elemType(value: Any) -> Type:
    """The type that a list beginning with ``value`` has on the device."""
    if isinstance(value, bool | np.bool_):
        return Bool
    if isinstance(value, int | np.integer):
        return Int
    if isinstance(value, np.float64) and not isinstance(value, np.floating):
        return Double
    if isinstance(value, float | np.floating):
        return Float
    raise CudaPyError(f"a list of {type(value).__name__} cannot be on the device; bool, int and float can")


class CudaArray:
    """A copy of a list, a tuple or a one-dimensional NumPy array on the device.

    Python floats become ``float``, ints ``int``; NumPy arrays of bool, int32, float32 and float64 keep their type.
    ``type`` asks for another one.
    """

    __slots__ = ("_array", "_type")

    def __init__(self, values: Any, type: Type | None = None) -> None:
        if isinstance(values, np.ndarray):
            if values.ndim != 1:
                raise CudaPyError(f"a CudaArray has one dimension, not {values.ndim}")
            kind = type or _BY_DTYPE.get(values.dtype)
            if kind is None:
                raise CudaPyError(f"elements of type {values.dtype} cannot be on the device; say which: type=cp.Int")
        elif not isinstance(values, list | tuple | range):
            raise CudaPyError(f"a CudaArray is made from a list, not from {values!r}")
        else:
            values = list(values)
            kind = type or (elemType(values[0]) if values else Int)
            if any(isinstance(v, float | np.floating) for v in values) and kind in (Int, Bool):
                raise CudaPyError(f"the list has floats, but its first element makes it an array of {kind}")
            for value in values:
                if not isinstance(value, bool | int | float | np.generic):
                    raise CudaPyError(f"the list is an array of {kind}, but it holds {value!r}")
        self._type = kind
        self._array: DeviceNDArray = to_device(np.asarray(values, kind.dtype))

    @classmethod
    def allocate(cls, length: int, type: Type) -> CudaArray:
        """An array of ``length`` elements with arbitrary contents."""
        if not isinstance(type, Type) or not type.scalar:
            raise CudaPyError(f"{type!r} is no type of elements")
        if isinstance(length, bool) or not isinstance(length, int | np.integer) or length < 0:
            raise CudaPyError(f"the length of an array is a number of elements, not {length!r}")
        made = cls.__new__(cls)
        made._type, made._array = type, device_array(int(length), type.dtype)
        return made

    def toList(self) -> list[Any]:
        """The elements as a Python list."""
        return list(self._array.copy_to_host().tolist())

    def toHost(self) -> Any:
        """The elements as a NumPy array."""
        return self._array.copy_to_host()

    def length(self) -> int:
        """How many elements there are."""
        return len(self._array)

    def elemType(self) -> Type:
        """The type of the elements."""
        return self._type

    def pointer(self) -> DeviceNDArray:
        """The device array behind it, for kernels of ``parpy.cuda``."""
        return self._array

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, index: int) -> Any:
        return self._array[index].item()

    def __setitem__(self, index: int, value: Any) -> None:
        self._array[index] = value

    def __repr__(self) -> str:
        return f"<parpy.cudapy.CudaArray of {len(self)} {self._type}>"
