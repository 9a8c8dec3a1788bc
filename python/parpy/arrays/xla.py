"""Calls from programs of XLA, the compiler of JAX, through its foreign function interface.

The module declares the structures of version 0 of the interface (``xla/ffi/api/c_api.h``). Its handlers read the
buffers of a call and run a Python function. The memory stays where XLA has it, on the host or on a GPU.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

_EXECUTE = 3  # the stage of a call; the others prepare it
_METADATA = 1  # the extension by which XLA asks for the version of a handler
_INTERNAL = 13  # the code of an error

# The names of element types by their numbers. bfloat16 is the type of the package ml_dtypes, which JAX brings.
_TYPES = {
    1: "bool", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "uint8", 7: "uint16", 8: "uint32", 9: "uint64",
    10: "float16", 11: "float32", 12: "float64", 15: "complex64", 16: "bfloat16", 18: "complex128",
}  # fmt: skip


# The first fields of every structure. Later versions of the interface may add fields at the end.
_FIRST = (("struct_size", ctypes.c_size_t), ("extension", ctypes.c_void_p))


class _Extension(ctypes.Structure):
    _fields_ = (("struct_size", ctypes.c_size_t), ("type", ctypes.c_int), ("next", ctypes.c_void_p))


class _Version(ctypes.Structure):
    _fields_ = (*_FIRST, ("major", ctypes.c_int), ("minor", ctypes.c_int))


class _Metadata(ctypes.Structure):
    _fields_ = (("struct_size", ctypes.c_size_t), ("version", _Version), ("traits", ctypes.c_uint32))


class _MetadataExtension(ctypes.Structure):
    _fields_ = (("base", _Extension), ("metadata", ctypes.POINTER(_Metadata)))


class _ErrorArguments(ctypes.Structure):
    _fields_ = (*_FIRST, ("message", ctypes.c_char_p), ("code", ctypes.c_int))


class _StreamArguments(ctypes.Structure):
    _fields_ = (*_FIRST, ("context", ctypes.c_void_p), ("stream", ctypes.c_void_p))


class _Api(ctypes.Structure):
    """The functions of XLA. ``create_error`` and ``get_stream`` are called; the others only hold their places."""

    _fields_ = (
        *_FIRST,
        ("version", _Version),
        ("internal", ctypes.c_void_p),
        ("create_error", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_ErrorArguments))),
        ("get_message", ctypes.c_void_p),
        ("destroy_error", ctypes.c_void_p),
        ("register", ctypes.c_void_p),
        ("get_stream", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_StreamArguments))),
    )


class _Buffer(ctypes.Structure):
    _fields_ = (
        *_FIRST,
        ("dtype", ctypes.c_int),
        ("data", ctypes.c_void_p),
        ("rank", ctypes.c_int64),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
    )


class _Buffers(ctypes.Structure):
    _fields_ = (
        *_FIRST,
        ("size", ctypes.c_int64),
        ("types", ctypes.c_void_p),
        ("each", ctypes.POINTER(ctypes.POINTER(_Buffer))),
    )


class _Scalar(ctypes.Structure):
    _fields_ = (("dtype", ctypes.c_int), ("value", ctypes.POINTER(ctypes.c_int64)))


class _Attributes(ctypes.Structure):
    _fields_ = (
        *_FIRST,
        ("size", ctypes.c_int64),
        ("types", ctypes.c_void_p),
        ("names", ctypes.c_void_p),
        ("each", ctypes.POINTER(ctypes.POINTER(_Scalar))),
    )


class _CallFrame(ctypes.Structure):
    _fields_ = (
        *_FIRST,
        ("api", ctypes.POINTER(_Api)),
        ("context", ctypes.c_void_p),
        ("stage", ctypes.c_int),
        ("arguments", _Buffers),
        ("results", _Buffers),
        ("attributes", _Attributes),
    )


class DeviceMemory:
    """An array in the memory of a GPU, which ``__cuda_array_interface__`` describes. The interface has no name for
    bfloat16: there the array has integers, which the caller views as `dtype`."""

    def __init__(self, pointer: int | None, shape: tuple[int, ...], dtype: np.dtype[Any], read_only: bool) -> None:
        self.shape, self.dtype = shape, dtype
        described = np.dtype(f"u{dtype.itemsize}") if dtype.kind == "V" else dtype
        self.__cuda_array_interface__ = {
            "shape": shape, "typestr": described.str, "data": (pointer or 0, read_only), "version": 3,
        }  # fmt: skip


class Buffers(NamedTuple):
    """The arrays of a call: NumPy arrays on the host, otherwise ``DeviceMemory``. Those of `arguments` are
    read-only. `stream` is the handle of the stream on which a GPU computes them."""

    arguments: Sequence[Any]
    results: Sequence[Any]
    stream: int | None


_called: list[Callable[[Buffers], None]] = []


def number_of(function: Callable[[Buffers], None]) -> int:
    """Registers a function and returns its number, the value of the only attribute of a call, by which handlers find
    it. XLA may keep programs without limit, so the function is never freed."""
    _called.append(function)
    return len(_called) - 1


def _on_host(buffer: _Buffer, read_only: bool) -> np.ndarray:
    shape, dtype = _form(buffer)
    count = math.prod(shape)
    if count == 0:
        return np.empty(shape, dtype)
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(buffer.data or 0)
    array: np.ndarray = np.ndarray(shape, dtype, memoryview(memory))
    array.flags.writeable = not read_only
    return array


def _on_gpu(buffer: _Buffer, read_only: bool) -> DeviceMemory:
    return DeviceMemory(buffer.data, *_form(buffer), read_only)


def _form(buffer: _Buffer) -> tuple[tuple[int, ...], np.dtype[Any]]:
    name = _TYPES.get(buffer.dtype)
    if name is None:
        raise TypeError(f"arrays of XLA's type {buffer.dtype} are not supported: convert them first")
    return tuple(buffer.dims[: buffer.rank]), np.dtype(name)


def _arrays(buffers: _Buffers, kind: Callable[[_Buffer, bool], Any], read_only: bool) -> list[Any]:
    return [kind(buffers.each[place].contents, read_only) for place in range(buffers.size)]


def _stream(frame: _CallFrame) -> int | None:
    asked = _StreamArguments(ctypes.sizeof(_StreamArguments), None, frame.context, None)
    error = frame.api.contents.get_stream(ctypes.byref(asked))
    if error:
        raise RuntimeError("XLA has no stream for a call on a GPU")
    return asked.stream or 0


def _run(frame: _CallFrame, on_gpu: bool) -> None:
    kind: Callable[[_Buffer, bool], Any] = _on_gpu if on_gpu else _on_host
    function = _called[frame.attributes.each[0].contents.value[0]]
    function(
        Buffers(
            _arrays(frame.arguments, kind, True),
            _arrays(frame.results, kind, False),
            _stream(frame) if on_gpu else None,
        )
    )


def _tell_version(frame: _CallFrame) -> bool:
    """Whether XLA asked for the version of the handler. The fields above are in every version 0, and so the answer is
    XLA's own minor version."""
    if not frame.extension or _Extension.from_address(frame.extension).type != _METADATA:
        return False
    metadata = _MetadataExtension.from_address(frame.extension).metadata.contents
    metadata.version.major = 0
    metadata.version.minor = frame.api.contents.version.minor if frame.api else 1
    metadata.traits = 0
    return True


_Handler = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_CallFrame))


def _handler(on_gpu: bool) -> Any:
    def handle(pointer: Any) -> int | None:
        frame = pointer.contents
        if _tell_version(frame) or frame.stage != _EXECUTE:
            return None
        try:
            _run(frame, on_gpu)
        except BaseException as error:
            message = f"{type(error).__name__}: {error}".encode()
            told = _ErrorArguments(ctypes.sizeof(_ErrorArguments), None, message, _INTERNAL)
            made: int | None = frame.api.contents.create_error(ctypes.byref(told))
            return made
        return None

    return _Handler(handle)


ON_HOST, ON_GPU = _handler(False), _handler(True)
"""The handlers of calls on the CPU and on a GPU of CUDA, functions of ctypes."""
