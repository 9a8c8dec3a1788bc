"""The operands of cuBLAS: matrices in column order, vectors and numbers, and the contexts of its calls."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import _native
from ..arrays.libraries import as_operand, dtype_of, is_on_device, memory_of, shape_of, stream_of
from ..cuda import external_stream, to_device
from ..cuda._arrays import DeviceNDArray
from ._libraries import LibraryError, open_library

_LETTERS = {"f4": "s", "f8": "d", "c8": "c", "c16": "z"}
KINDS = {letter: code for code, letter in _LETTERS.items()}


class Columns(NamedTuple):
    """A matrix as cuBLAS reads it: rows and columns in Fortran order, and the distance of columns in elements."""

    rows: int
    columns: int
    leading: int
    turned: bool  # whether the array is in C order, so that cuBLAS reads its transpose


def columns_of(array: Any, name: str) -> Columns:
    found = memory_of(array)
    assert found is not None
    if len(found.shape) != 2:
        raise ValueError(f"'{name}' is a matrix, not an array of shape {found.shape}")
    (rows, columns), (down, across) = found.shape, (each // found.size for each in found.strides)
    if (down == 1 or rows == 1) and (across >= max(rows, 1) or columns == 1):
        return Columns(rows, columns, max(across if columns > 1 else rows, 1), False)
    if (across == 1 or columns == 1) and (down >= max(columns, 1) or rows == 1):
        return Columns(columns, rows, max(down if rows > 1 else columns, 1), True)
    raise ValueError(
        f"'{name}' has no dimension whose elements follow each other; copy it with np.asfortranarray or "
        "np.ascontiguousarray"
    )


def letter_of(arrays: Sequence[Any]) -> str:
    kinds = {dtype_of(each) for each in arrays}
    if len(kinds) > 1:
        raise TypeError(f"the arrays of a call have one type, not {', '.join(sorted(map(str, kinds)))}")
    kind = kinds.pop()
    found = _LETTERS.get(f"{kind.kind}{kind.itemsize}")
    if found is None:
        raise TypeError(f"BLAS is for float32, float64, complex64 and complex128, not for {kind}")
    return found


_NUMBERS: dict[str, Any] = {
    "s": ctypes.c_float * 1,
    "d": ctypes.c_double * 1,
    "c": ctypes.c_float * 2,
    "z": ctypes.c_double * 2,
}


_COMPLEX = (complex, np.complexfloating)


def number_of(letter: str, value: Any) -> Any:
    """A number as a ctypes array of its parts, which cuBLAS reads by reference."""
    if value.__class__ is float and letter in "sd":
        return _NUMBERS[letter](value)
    if letter in "cz":
        value = complex(value)
        return _NUMBERS[letter](value.real, value.imag)
    if isinstance(value, _COMPLEX):
        if value.imag:
            raise TypeError(f"a complex number, {value}, is given for arrays of real ones")
        value = value.real
    return _NUMBERS[letter](value)


def real_of(letter: str) -> str:
    return {"c": "s", "z": "d"}.get(letter, letter)


class Handle:
    """A context of cuBLAS for one device and thread."""

    def __init__(self, device: int) -> None:
        self.library = open_library("cublas")
        self.pointer = ctypes.c_void_p()
        self.library.call("cublasCreate_v2", ctypes.byref(self.pointer))
        self._number = self.pointer.value or 0
        self._device, self._stream = device, 0
        # The available function and its name, by the first of the names that `call` gets.
        self._functions: dict[str, tuple[str, Callable[..., int]]] = {}

    def call(self, names: Sequence[str], stream: int, arguments: Sequence[Any], more: Sequence[Any] = ()) -> None:
        """Calls the first of these functions that the library has, on a stream."""
        name, function = self._found(names)
        if stream != self._stream:
            self._select(stream)
        status = function(self.pointer, *arguments, *more)
        if status:
            raise self.library.failure(name, status)
        if stream:
            _native.note_stream(stream, self._device)

    def call_directly(self, function: _native.LibraryCall, names: Sequence[str], stream: int, *given: int) -> None:
        """Calls a function with these names, of which `address_of` gave the address, on a stream."""
        if stream != self._stream:
            self._select(stream)
        status = function(self._number, *given)
        if status:
            raise self.library.failure(self._found(names)[0], status)
        if stream:
            _native.note_stream(stream, self._device)

    def address_of(self, names: Sequence[str]) -> int | None:
        """The address of the first of these functions that the library has; None if Python implements it."""
        function: Any = self._found(names)[1]
        known = isinstance(function, ctypes._CFuncPtr)  # type: ignore[attr-defined]
        return ctypes.cast(function, ctypes.c_void_p).value if known else None

    def _found(self, names: Sequence[str]) -> tuple[str, Callable[..., int]]:
        found = self._functions.get(names[0])
        if found is None:
            name = self._first(names)
            found = self._functions[names[0]] = name, self.library.function(name)
        return found

    def _select(self, stream: int) -> None:
        """Makes later calls run on a stream. It costs a call, and resets cuBLAS's workspace."""
        self.library.call("cublasSetStream_v2", self.pointer, ctypes.c_void_p(stream))
        self._stream = stream

    def _first(self, names: Sequence[str]) -> str:
        found = next((each for each in names if self.library.has(each)), None)
        if found is None:
            raise LibraryError(f"'{self.library.file}' has no function '{names[0]}': another version of it is needed")
        return found

    def __del__(self) -> None:
        if getattr(self, "pointer", None):
            self.library.call("cublasDestroy_v2", self.pointer)


class _Handles(threading.local):
    """This thread's contexts by their devices."""

    def __init__(self) -> None:
        self.known: dict[int, Handle] = {}


_handles = _Handles()


def handle_of_device(device: int) -> Handle:
    """This thread's context for a device, which is selected."""
    found = _handles.known.get(device)
    if found is None:
        found = _handles.known[device] = Handle(device)
    return found


class OnGpu:
    """The arrays of a call on the GPU. Copies of host arrays that the call stores to are copied back after the call."""

    def __init__(self, given: dict[str, Any], stored: Sequence[str], stream: Any) -> None:
        self._stream = stream_of(list(given.values()), stream)
        self._back = [(given[name], name) for name in stored if not is_on_device(given[name])]
        self.arrays = {name: value if is_on_device(value) else _sent(value) for name, value in given.items()}

    @property
    def stream(self) -> int:
        return self._stream

    def give_back(self) -> None:
        for host, name in self._back:
            host[...] = self.arrays[name].copy_to_host(stream=external_stream(self._stream) if self._stream else 0)


def _sent(array: Any) -> Any:
    """A copy on the GPU with the same order of elements as the host array."""
    host = np.asarray(as_operand(array))
    if host.ndim < 2 or is_turned(host):
        return to_device(np.ascontiguousarray(host))
    order = (*range(host.ndim - 2), host.ndim - 1, host.ndim - 2)
    return to_device(np.ascontiguousarray(host.transpose(order))).transpose(order)


def address_of(array: Any) -> int:
    if array.__class__ is DeviceNDArray:
        return int(_native.address_of(array._view))
    found = memory_of(array)
    assert found is not None
    return found.address


def vector_of(array: Any, name: str) -> tuple[int, int, int]:
    """The offset of the vector from the array's address in bytes, its size, and its step in elements. For a negative
    step the offset is that of the vector's last element, as BLAS requires."""
    found = memory_of(array)
    assert found is not None
    if len(found.shape) != 1:
        raise ValueError(f"'{name}' is a vector, not an array of shape {found.shape}")
    step = found.strides[0] // found.size if found.shape[0] > 1 else 1
    return (found.shape[0] - 1) * found.strides[0] if step < 0 else 0, found.shape[0], step


def is_turned(array: Any) -> bool:
    return columns_of(array[0] if len(shape_of(array)) == 3 else array, "out").turned
