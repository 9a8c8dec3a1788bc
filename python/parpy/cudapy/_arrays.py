"""``CudaArray``: a one-dimensional array on the device, freed with its last reference."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.device_arrays import is_int
from ..cuda import DeviceNDArray, device_array, to_device
from ._errors import CudaPyError
from ._types import Bool, Double, Float, Int, Type

_BY_DTYPE = {each.dtype: each for each in (Bool, Int, Float, Double)}


def elemType(value: Any) -> Type:
    """Returns the element type of a list that begins with ``value``: ``Bool`` for a bool, ``Int`` for an int and
    ``Float`` for a float, of Python or NumPy. Raises CudaPyError for other values."""
    if isinstance(value, bool | np.bool_):
        return Bool
    if isinstance(value, int | np.integer):
        return Int
    if isinstance(value, float | np.floating):
        return Float
    raise CudaPyError(f"a list of {type(value).__name__} cannot be on the device; bool, int and float can")


def element_type(given: Any) -> Type:
    """``given``, if it can be the type of elements of arrays; else raises CudaPyError."""
    if not isinstance(given, Type) or not given.scalar:
        raise CudaPyError(f"{given!r} is not an element type; write cp.Bool, cp.Int, cp.Float or cp.Double")
    return given


def elements(
    values: list[Any] | tuple[Any, ...] | np.ndarray, kind: Type, what: str, holds: str = "it holds"
) -> np.ndarray:
    """The values as an array of ``kind``; CudaPyError for values that do not fit. Messages call them ``what``."""
    if isinstance(values, np.ndarray):
        kept = values.dtype.kind in {Bool: "b", Int: "iu"}.get(kind, "iuf")
        stranger = "" if kept else f"elements of type {values.dtype}"
    else:
        stranger = next((repr(value) for value in values if not _is_of(kind, value)), "")
    if stranger:
        raise CudaPyError(f"{what} is an array of {kind}, but {holds} {stranger}")
    beyond = _beyond_32_bits(values) if kind is Int and len(values) else None
    if beyond is not None:
        raise CudaPyError(f"{what} is an array of int, but {holds} {beyond}, which needs more than 32 bits")
    try:
        with np.errstate(over="ignore"):
            made = np.asarray(values, kind.dtype)
    except OverflowError:
        raise CudaPyError(f"{what} is an array of {kind}, but {holds} an integer beyond all of them") from None
    if kind in (Float, Double) and not (isinstance(values, np.ndarray) and values.dtype == kind.dtype):
        for place in np.flatnonzero(np.isinf(made)):
            if np.isfinite(np.float64(values[place])):
                raise CudaPyError(f"{what} is an array of {kind}, but {holds} {values[place]}, which no {kind} holds")
    return made


def _beyond_32_bits(values: Any) -> Any:
    """A value outside of the range of int; None if there is none."""
    least, most = (values.min(), values.max()) if isinstance(values, np.ndarray) else (min(values), max(values))
    return least if least < -(2**31) else most if most >= 2**31 else None


def _is_of(kind: Type, value: Any) -> bool:
    """Whether a value of a list may be an element of ``kind``; floating-point arrays accept integers, too."""
    if isinstance(value, bool | np.bool_) or kind is Bool:
        return isinstance(value, bool | np.bool_) and kind is Bool
    return isinstance(value, int | np.integer) or (kind is not Int and isinstance(value, float | np.floating))


class CudaArray:
    """A copy of a list, a tuple, a range or a one-dimensional NumPy array on the device.

    Without ``type`` the elements of a list have the type of its first element: Python's floats become ``Float`` (32
    bits), ints ``Int`` (32 bits) and bools ``Bool``; an empty list has ``Int``. NumPy arrays of bool, int32, float32
    and float64 keep their type. ``type`` is one of ``Bool Int Float Double``, and all values must fit it. The memory
    is freed with the last reference.

    ``a[i]`` reads one element, and ``a[i] = v`` stores one. Raises CudaPyError for arrays of several dimensions, and
    for values of other types or beyond the range of the type.
    """

    __slots__ = ("_array", "_type")

    def __init__(self, values: Any, type: Type | None = None) -> None:
        wanted = None if type is None else element_type(type)
        if isinstance(values, np.ndarray):
            if values.ndim != 1:
                raise CudaPyError(f"a CudaArray has one dimension, not {values.ndim}")
            kind = wanted or _BY_DTYPE.get(values.dtype)
            if kind is None:
                raise CudaPyError(f"elements of type {values.dtype} cannot be on the device; say which: type=cp.Int")
        elif not isinstance(values, list | tuple | range):
            raise CudaPyError(f"a CudaArray is made from a list, not from {values!r}")
        else:
            values = list(values)
            kind = wanted or (elemType(values[0]) if values else Int)
            if any(isinstance(v, float | np.floating) for v in values) and wanted is None and kind in (Int, Bool):
                raise CudaPyError(f"the list has floats, but its first element makes it an array of {kind}")
        self._type = kind
        self._array: DeviceNDArray = to_device(elements(values, kind, "the list"))

    @classmethod
    def allocate(cls, length: int, type: Type) -> CudaArray:
        """Returns a new array of ``length`` elements of ``type`` with arbitrary contents. Raises CudaPyError for a
        negative length and for other types than ``Bool Int Float Double``."""
        kind = element_type(type)
        if not is_int(length) or length < 0:
            raise CudaPyError(f"the length of an array is a number of elements, not {length!r}")
        made = cls.__new__(cls)
        made._type, made._array = kind, device_array(int(length), kind.dtype)
        return made

    def toList(self) -> list[Any]:
        """Returns a list of the elements as Python's numbers, after all launches so far."""
        return list(self._array.copy_to_host().tolist())

    def toHost(self) -> Any:
        """Returns a NumPy array of the elements, with one dimension and the dtype of the element type."""
        return self._array.copy_to_host()

    def length(self) -> int:
        """Returns the number of elements."""
        return len(self._array)

    __len__ = length

    def elemType(self) -> Type:
        """Returns the type of the elements: ``Bool``, ``Int``, ``Float`` or ``Double``."""
        return self._type

    def pointer(self) -> DeviceNDArray:
        """Returns the array as a ``parpy.cuda.DeviceNDArray`` that shares its memory, for kernels of
        ``parpy.cuda``."""
        return self._array

    def __getitem__(self, index: int) -> Any:
        return self._array[_place(index)].item()

    def __setitem__(self, index: int, value: Any) -> None:
        self._array[_place(index)] = elements([value], self._type, "this", "the value is")[0]

    def __repr__(self) -> str:
        return f"<parpy.cudapy.CudaArray of {len(self)} {self._type}>"


def _place(index: Any) -> int:
    if not is_int(index):
        raise CudaPyError(
            f"a CudaArray is indexed by one int, not by {index!r}; take parts of a.toList() or a.toHost()"
        )
    return int(index)
